"""What readers have in common: blocks, chats, results, and whose words a text is."""
