"""Package of LLM provider adapters: each module defines one as `PROVIDER`."""
