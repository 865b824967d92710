"""Provider for a local Ollama server: OpenAI's protocol, no key required."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:11434/v1")
