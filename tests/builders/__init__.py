"""What tests build their cases from."""
