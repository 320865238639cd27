"""The OpenAPI document of the service, and the examples in it."""
