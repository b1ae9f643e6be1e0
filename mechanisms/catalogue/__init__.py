"""Lists the mechanisms that people choose from."""
