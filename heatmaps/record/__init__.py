"""Keeps outside the database what must never go back with it: elections of draws and opt-outs.

A restore, a copied folder or a lagging replica brings an older database. Each process that elects draws
compares it with an append-only file in `HAZEMAP_RECORD_DIR`, and with a witness elsewhere if there is one;
where the database lacks what was recorded last, the installation is on hold until an operator says what
happened (`manage.py resume`).
"""
