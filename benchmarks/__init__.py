"""Measurements of the engine and the service on real data: `python -m benchmarks.NAME --help`.

They print what they measured and assert nothing; docs/measurements.md holds figures of theirs.
"""
