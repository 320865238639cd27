"""Metrics: names, counts and their exposition to Prometheus."""
