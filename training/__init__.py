"""Offline training: instances of files as rows, learned in passes, and the state that makes."""
