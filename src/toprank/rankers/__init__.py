"""Room: rankers."""
