"""One file per command, each of which imports what it needs when it runs."""
