"""The conversations of a ChatGPT export: a tree of messages, of which one branch is what was said."""
