"""Compiled loops and reductions."""
