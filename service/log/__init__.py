"""The log: group commit, applying events, following a shared log, recovery."""
