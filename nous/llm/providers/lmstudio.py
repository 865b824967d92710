"""Provider for a local LM Studio server: OpenAI's protocol, no key required."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:1234/v1")
