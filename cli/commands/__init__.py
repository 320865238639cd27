"""The command line `manyclass`, a module for each of its commands and for what they share."""
