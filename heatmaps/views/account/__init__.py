"""Serves pages of one's own account: signing in, second factors, passkeys, tokens."""
