"""Data versions: their advance, schedule, retention and deletion."""
