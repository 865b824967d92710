"""What only sessions of Cursor need."""
