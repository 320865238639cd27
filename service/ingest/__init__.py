"""Delayed labels: ranked instances, kept here and looked up in other processes."""
