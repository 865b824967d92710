"""Scripted model for tests and for trials without a provider."""

from collections.abc import Callable, Iterable
from threading import Lock

from builders.quoting import careful
from nous.domain.episode import Tokens
from nous.llm.base import Question, Reply
from nous.text.token_estimate import estimate

Answer = str | Reply | Exception


class ScriptedModel:
    """Model with fixed answers; *answers* maps questions to answers, or lists them in order.

    An exception among them is raised; facts in a text are quoted by `careful`. `questions` holds the questions asked,
    in order. Thread-safe.
    """

    def __init__(self, answers: Callable[[Question], Answer] | Iterable[Answer], *, id: str = "scripted:model") -> None:  # noqa: A002 (as the port calls it)
        self._id = id
        self._lock = Lock()
        self._questions: list[Question] = []
        self._answers = answers if callable(answers) else iter(answers)

    @property
    def id(self) -> str:
        return self._id

    @property
    def questions(self) -> tuple[Question, ...]:
        with self._lock:
            return tuple(self._questions)

    def ask(self, question: Question, /) -> Reply:
        """Answer *question*; see `Model.ask`.

        Raises:
            StopIteration: there were fewer answers than questions.
        """
        with self._lock:
            self._questions.append(question)
        answer = self._answers(question) if callable(self._answers) else next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return self._reply(question, careful(answer, question.user)) if isinstance(answer, str) else answer

    def _reply(self, question: Question, text: str) -> Reply:
        tokens = Tokens(estimate(question.system) + estimate(question.user), estimate(text))
        return Reply(text=text, model=self._id, tokens=tokens, is_whole=bool(text.strip()))
