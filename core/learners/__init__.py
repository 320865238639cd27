"""Learners: their declarations and options, the protocol they share, and committees of them."""
