"""Episodes without a model: outcome, title, summary, lessons and facts by rules that were measured on labelled sessions."""
