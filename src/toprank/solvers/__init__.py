"""Room: solvers."""
