"""The items of OpenAI's Responses API: what a model said and called, and what came of it."""
