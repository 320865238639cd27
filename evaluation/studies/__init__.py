"""Studies: what papers measured, measured here; each module is a command that prints its tables."""
