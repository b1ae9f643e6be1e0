"""Uses Redis between processes: which messages count, what a worker takes from its queue, who still takes."""
