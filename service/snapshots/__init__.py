"""Snapshots: when they are taken, how long they are kept, how one is restored."""
