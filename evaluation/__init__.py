"""Evaluation of learners on data sets, `manyclass evaluate`, and of labels, `manyclass report`."""
