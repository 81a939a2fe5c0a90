"""Programs whose PTX lies here as text and names the oldest target that takes it, so that one module is compiled for all."""
