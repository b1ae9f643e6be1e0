"""Measures one grid as fine as the noise allows (`dense-emd`)."""
