"""Ollama on this machine, which speaks the protocol of OpenAI and asks for no key."""

from nous.llm.providers.openai import ChatCompletions

PROVIDER = ChatCompletions("http://localhost:11434/v1")
