"""The novel of `manyclass demo`, whose words are predicted."""
