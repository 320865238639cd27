"""The store on a Redis server, which several processes share."""
