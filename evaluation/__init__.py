"""Evaluation of learners on data sets: `manyclass evaluate`."""
