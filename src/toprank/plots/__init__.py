"""Room: plots."""
