"""Compiled loops and reductions; beside each fast one lies its naive twin."""
