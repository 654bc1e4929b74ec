//! Host library: memory regions, connections, work requests.
