"""Files that describe classes: tables, JSON, and vocabularies of SKOS.

`read_descriptions` in `reading.py` recognises the form of a file. Each form yields a
`DescribedRow` for each class.
"""
