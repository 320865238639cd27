"""Requests of learning become events: labels that come late, instances that peers have ranked."""
