"""Serves pages of releases: asking, showing, comparing, handing out."""
