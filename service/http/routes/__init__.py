"""The routes, a module for each noun of the API."""
