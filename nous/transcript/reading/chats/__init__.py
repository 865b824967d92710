"""What formats of chats that carry few marks of their own have in common."""
