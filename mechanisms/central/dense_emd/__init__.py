"""`dense-emd`: one grid as fine as the noise allows."""
