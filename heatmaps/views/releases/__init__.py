"""Pages of releases: asking, showing, comparing, handing out."""
