"""Forms of accounts and of signing in."""
