"""Room: datasets."""
