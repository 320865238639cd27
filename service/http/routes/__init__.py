"""What the service answers, a module for each noun."""
