"""What a model may answer about a session."""

from typing import Any

import orjson

GOOD: dict[str, Any] = {
    "title": "Billing moves to port 9017 for good",
    "summary": "The user asked that billing runs on port 9017. It was set, and the user was content.",
    "key_points": ["Billing listens on the port that its service file names."],
    "outcome": "resolved",
    "outcome_rationale": "In turn 2 the user was content.",
    "topics": ["billing", "ports"],
    "open_threads": [],
    "candidate_facts": [
        {
            "text": "Service billing always runs on port 9017.",
            "category": "rule",
            "subject": "billing",
            "confidence": 0.9,
            "quotes": [{"turn": 1, "quote": "always run service billing on port 9017"}],
            "event_date": None,
        }
    ],
}
"""An answer about `SESSION` that can be used as it is."""

SESSION = (
    "User: Please always run service billing on port 9017.\n\n"
    "Assistant: Done: service billing now listens on port 9017.\n\n"
    "User: Thanks, that is all I needed."
)


def stated(text: str, **fields: Any) -> dict[str, Any]:
    """A fact as a model states it of turn 1."""
    known = {"category": "rule", "subject": "", "confidence": 0.9, "turns": [1], "event_date": None}
    return {"text": text, **known, **fields}


def answer(**changes: Any) -> str:
    """`GOOD` with *changes*, as a model writes it."""
    return orjson.dumps({**GOOD, **changes}).decode()
