"""A candidate fact as the tier without a model makes one: a sentence that was said in one turn, and whose it is."""

from nous.episode import CandidateFact, Category, Trust


def by_user(text: str, turn: int, category: Category, *, confidence: float, subject: str = "user") -> CandidateFact:
    """*text*, which the user said in *turn*, of themselves or of what they want."""
    return candidate(text, turn, category, Trust.USER, subject=subject, confidence=confidence)


def by_agent(text: str, turn: int, category: Category, *, subject: str, confidence: float) -> CandidateFact:
    """*text*, which the agent said in *turn*."""
    return candidate(text, turn, category, Trust.ASSISTANT, subject=subject, confidence=confidence)


def candidate(
    text: str, turn: int, category: Category, trust: Trust, *, subject: str, confidence: float
) -> CandidateFact:
    """*text* as a sentence that stands on the word of *trust*."""
    return CandidateFact(
        text=text if text.endswith((".", "!", "”")) else f"{text}.",
        category=category,
        subject=subject,
        confidence=confidence,
        turns=(turn,),
        trust=trust,
    )
