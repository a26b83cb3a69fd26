"""Fits, scores, shortlists and metrics on Dask collections; imports Dask and nothing more."""
