"""HTTP: the server, its hot path, limits, keys, routes and the API document."""
