"""What the reader of Copilot CLI's events has to follow from event to event."""
