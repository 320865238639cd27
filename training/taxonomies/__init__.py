"""Files of taxonomies: tables of classes and parents, lines of paths, and JSON in several forms.

`read_taxonomy` in `reading.py` recognises the form of a file. Each form yields a
`Node` for each class and parent; `nodes.py` makes one tree of them, or names the lines at fault.
"""
