"""Manages people: permissions, accounts, members, invitations."""
