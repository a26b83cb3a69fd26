"""Room: kernels."""
