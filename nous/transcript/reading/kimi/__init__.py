"""What only Kimi's journals need."""
