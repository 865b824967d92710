"""Define the Ollama provider: OpenAI's protocol, localhost:11434 by default, key optional."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:11434/v1")
