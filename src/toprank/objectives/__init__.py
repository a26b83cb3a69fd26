"""Room: objectives."""
