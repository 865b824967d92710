"""Define the vLLM provider: OpenAI's protocol, localhost:8000 by default, key optional."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:8000/v1")
