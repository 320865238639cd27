"""The settings of the service."""
