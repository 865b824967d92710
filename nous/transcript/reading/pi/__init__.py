"""What only sessions of pi, and of OpenClaw which is built on it, need."""
