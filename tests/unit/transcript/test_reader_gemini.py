import orjson
from builders.transcripts import said

from nous.transcript import Kind, parse_transcript


def test_messages_of_the_bare_api_are_read() -> None:
    history = [
        {"role": "user", "parts": [{"text": "Describe it"}, {"inlineData": {"data": "AAAA"}}], "ts": 1695000000},
        {"role": "model", "parts": [{"text": "A cat."}]},
    ]

    document = parse_transcript(orjson.dumps({"history": history, "summary": "Cats", "meta": {"model": "m"}}))

    assert document.format == "gemini"
    assert said(document) == [(Kind.USER, "Describe it"), (Kind.ASSISTANT, "A cat.")]
    assert (document.header.title, document.header.model, document.skipped) == ("Cats", "m", {"inlineData part": 1})
    assert said(parse_transcript(orjson.dumps(history))) == said(document)
