"""The installed product: one top package, so that no other distribution's `api` or `heatmaps` gets in its way."""
