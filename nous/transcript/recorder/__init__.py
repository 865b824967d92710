"""Writing transcripts, for agents that keep none; and handing them to a summarizer as text."""
