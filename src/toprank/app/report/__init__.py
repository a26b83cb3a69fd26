"""One self-contained HTML page about a run: what was ranked, what the top gained, the shortlist."""
