"""Package of rules that summarize without a model, measured on labelled sessions."""
