//! Simulation: fabric, memory, monitors and the main job.
