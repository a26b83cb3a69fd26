"""Room: guarantees."""
