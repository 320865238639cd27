"""The command line `manyclass`."""
