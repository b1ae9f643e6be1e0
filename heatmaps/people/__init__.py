"""People: permissions, accounts, members, invitations."""
