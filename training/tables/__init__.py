"""Tables: CSV, spreadsheets and Parquet, whose rows become JSON lines.

`TableSource` yields the rows of a file as lines that every reader of JSON lines takes. To add a
format, write a module with `records(...)` and list it in `source.py`.
"""
