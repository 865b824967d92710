"""What the benchmark of outcomes is made of: the gold, and the counting."""
