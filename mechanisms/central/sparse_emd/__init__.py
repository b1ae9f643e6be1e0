"""`sparse-emd`: sparse aggregation under the earth mover’s distance."""
