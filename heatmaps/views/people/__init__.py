"""Members, invitations and accounts."""
