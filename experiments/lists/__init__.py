"""Parts of the experiment on shortlists."""
