"""Turns user names into the hashes that rows carry, by a secret key for each dataset."""
