"""The parts of the command `scale.py`: a scope that is made up."""
