"""The console: pages for a browser, which call the public API only."""
