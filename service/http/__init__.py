"""HTTP: the server, its two tiers, limits, keys, routes and the API document."""
