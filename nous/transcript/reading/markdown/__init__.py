"""Text that was written down as Markdown."""
