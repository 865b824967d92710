"""Define the llama.cpp provider: OpenAI's protocol, localhost:8080 by default, key optional."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:8080/v1")
