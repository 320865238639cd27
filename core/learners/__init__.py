"""Learners: their declarations and options, and committees of them.

A learner is declared with its options in the module of its family: `linear`, `label_tree`,
`frequency` or `ensemble`. Specifications, validation, messages and the tables of docs/learners.md
(`make generate`) follow from that; `Options` holds the values, which the native code reads.
"""
