"""What is ShareGPT's own; what it shares with other chats is in `test_reader_chats.py`."""

from nous.transcript.readers.sharegpt import tagged


def test_endless_tags_are_read_in_one_go() -> None:
    assert len(list(tagged("<think>" * 200_000 + "</tool_call>"))) == 1
