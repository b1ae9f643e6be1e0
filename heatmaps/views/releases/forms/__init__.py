"""Forms that ask for a release."""
