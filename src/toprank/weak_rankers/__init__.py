"""Room: weak_rankers."""
