"""Define the LM Studio provider: OpenAI's protocol, localhost:1234 by default, key optional."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:1234/v1")
