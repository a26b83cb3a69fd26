"""Boosted trees with and without our objectives, on real rows."""
