"""What several commands have in common, and the scope that `scale.py` makes up."""
