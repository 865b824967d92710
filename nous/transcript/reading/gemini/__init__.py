"""What Gemini CLI, and the programs that grew out of it, have in common."""
