"""Redis keys of model-call state; `<p>` is the configured prefix, *kept* means without TTL.

| key                                   | type   | life       | holds                                                  |
|---------------------------------------|--------|------------|--------------------------------------------------------|
| <p>:answer:<scope>:<subject>:<digest> | string | answer_ttl | a cached reply, JSON; digest of the question and model |
| <p>:dropped:<digest>                  | hash   | 7 days     | subject, or "all" -> drops; digest of the scope        |
| <p>:tokens:<day>                      | hash   | 8 days     | spent:<scope>, reserved:<scope> -> tokens              |
| <p>:token-calls:<day>                 | hash   | a day      | <scope>/<reservation> -> tokens held, or "settled"     |
| <p>:outages                           | hash   | 2 days     | provider -> circuit state, JSON                        |
| <p>:failing:<digest>                  | string | 7 days     | how often a question has failed, JSON; digest of both  |
| <p>:calls                             | hash   | kept       | <count>:<model> -> how many                            |
| <p>:said:<name>                       | string | 10 minutes | empty: a failure or a count that was written           |

Every change to a hash renews its TTL. `outages` is one hash, not a key for each provider: reading, listing and deleting
are one command each then, and no index can disagree with it. `said` is an idempotency key: redis-py resends a command
whose reply was lost, and the second one must have no effect.
"""

from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from urllib.parse import quote
from uuid import UUID

from nous.domain.scope import Scope
from nous.llm.base import Question


@dataclass(frozen=True, slots=True)
class LlmKeys:
    """Key names under a prefix, with scopes percent-encoded like those of the store."""

    prefix: str = "nous"

    def answer(self, question: Question, model: str) -> str:
        asked = sha256(f"{question.digest} {model}".encode()).hexdigest()
        return f"{self.prefix}:answer:{quote(str(question.matter.scope), safe='/')}:{question.matter.subject}:{asked}"

    def answers(self, scope: Scope, subject: UUID | None = None) -> str:
        """Return the SCAN pattern of all responses about *subject*, or of all of *scope*."""
        about = "*" if subject is None else f"{subject}:*"
        return f"{self.prefix}:answer:{quote(str(scope), safe='/')}:{about}"

    def invalidation_count(self, scope: Scope) -> str:
        """Return a name that does not reveal the scope, which may just have been erased."""
        return f"{self.prefix}:dropped:{sha256(str(scope).encode()).hexdigest()}"

    def tokens(self, day: date) -> str:
        return f"{self.prefix}:tokens:{day.isoformat()}"

    def token_calls(self, day: date) -> str:
        return f"{self.prefix}:token-calls:{day.isoformat()}"

    @property
    def outages(self) -> str:
        return f"{self.prefix}:outages"

    def failing(self, provider: str, question: str) -> str:
        return f"{self.prefix}:failing:{sha256(f'{question} {provider}'.encode()).hexdigest()}"

    @property
    def calls(self) -> str:
        return f"{self.prefix}:calls"

    def said(self, name: str) -> str:
        return f"{self.prefix}:said:{name}"
