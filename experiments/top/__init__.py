"""Parts of the experiment on precision at the top."""
