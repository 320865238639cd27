"""Offline training: read labelled instances from files and learn them in passes."""
