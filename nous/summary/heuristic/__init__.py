"""Episodes without a model: outcome, title, summary, lessons and facts, by rules measured on labelled sessions."""
