"""Provider for a local llama.cpp server: OpenAI's protocol, no key required."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:8080/v1")
