"""What happens in a session, event by event, as an agent tells it while it works."""

from nous.transcript.recorder.events.base import MAIN, Source, TranscriptEvent, UnknownEvent
from nous.transcript.recorder.events.codec import EventCodec, event_types

__all__ = ["MAIN", "EventCodec", "Source", "TranscriptEvent", "UnknownEvent", "event_types"]
