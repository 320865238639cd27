"""Snapshots: schedule, retention and restore."""
