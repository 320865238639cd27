"""The client of a running service."""
