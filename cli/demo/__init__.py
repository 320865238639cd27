"""The data of `manyclass demo`: a novel whose words are predicted."""
