"""Redis between processes: which messages count, what a worker takes from its queue, and who still takes."""
