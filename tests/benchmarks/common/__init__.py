"""Code that several benchmarks share, and the scope that `scale.py` generates."""
