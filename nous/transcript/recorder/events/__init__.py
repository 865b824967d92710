"""Typed events of an agent session, and their JSON codec."""

from nous.transcript.recorder.events.base import MAIN, EventSource, TranscriptEvent, UnknownTranscriptEvent
from nous.transcript.recorder.events.codec import EventCodec, event_types

__all__ = ["MAIN", "EventCodec", "EventSource", "TranscriptEvent", "UnknownTranscriptEvent", "event_types"]
