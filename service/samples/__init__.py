"""Data to try the service with: a novel for word prediction, and questions to a bank."""
