"""Compares learners on data sets by the measures of the papers."""
