"""The parts of SpecStory's exports."""
