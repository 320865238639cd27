"""The service: requests, durability, metrics and people around the engine in `core`."""
