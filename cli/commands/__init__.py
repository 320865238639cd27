"""The commands of `manyclass`, a module for each."""
