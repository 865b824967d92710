"""What only OpenCode's sessions need."""
