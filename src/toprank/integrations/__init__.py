"""The objectives and metrics in other engines; each module here imports its own engine alone."""
