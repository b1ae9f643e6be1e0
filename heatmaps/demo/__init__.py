"""Creates the demo: a synthetic city, two datasets, accounts and one release."""
