"""The types of request and answer bodies, a module for each noun of the API.

msgspec reads and writes the bodies of /rank and /learn, whose cost per request counts; pydantic
writes the others, as usual with FastAPI.
"""
