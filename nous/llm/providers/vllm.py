"""Provider for a local vLLM server: OpenAI's protocol, no key required."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:8000/v1")
