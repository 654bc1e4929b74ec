//! What the Osprey engine is, described once: wire format and register map.
