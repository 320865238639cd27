"""Tables: CSV, spreadsheets, Parquet, and JSON lines of other keys; rows become events of JSON.

`TableSource` yields the rows of a file as lines that every reader of JSON lines takes. To add a
format, write a module with `records(...)` and list it in `source.py`.
"""
