"""How far one map is from another."""
