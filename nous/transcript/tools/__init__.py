"""What tool calls did, in a line, and which files they touched."""
