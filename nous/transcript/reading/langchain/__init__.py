"""The messages of LangChain: how they are written down, and what they hold."""
