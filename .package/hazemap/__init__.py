"""The installed product: one top package, so that no other distribution's `api` gets in its way."""
