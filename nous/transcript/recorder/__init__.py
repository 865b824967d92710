"""Write qbit transcripts for agents that keep none; save summarizer inputs and summaries."""
