"""The command line: tables in, model files, shortlists and pages out."""
