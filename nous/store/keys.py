"""Build the names of the store's Redis keys; `keys.md` has their types, lives and content."""

from dataclasses import dataclass
from functools import partialmethod
from urllib.parse import quote, unquote
from uuid import UUID

from nous.domain.scope import Scope
from nous.domain.session_state import SessionStatus


@dataclass(frozen=True, slots=True)
class StoreKeys:
    """Names of keys under a prefix; foreign parts are percent-encoded, so no two collide."""

    prefix: str = "nous"

    def _of(self, what: str, scope: Scope) -> str:
        return f"{self.prefix}:{what}:{_scoped(scope)}"

    def transcripts_of(self, scope: Scope) -> str:
        return f"{self._of('transcript', scope)}:"

    episodes = partialmethod(_of, "episodes")
    episode_versions = partialmethod(_of, "episode-versions")
    episode_editions = partialmethod(_of, "episode-editions")
    summary_inputs = partialmethod(_of, "briefs")
    anchors = partialmethod(_of, "anchors")
    anchor_states = partialmethod(_of, "anchor-states")
    episodes_by_end = partialmethod(_of, "episodes-by-end")
    fact_head = partialmethod(_of, "facts-head")
    fact_rows = partialmethod(_of, "facts-rows")
    rewriting = partialmethod(_of, "rewriting")

    @property
    def scopes(self) -> str:
        return f"{self.prefix}:scopes"

    def episode_vectors(self, scope: Scope, embedder: str) -> str:
        return f"{self._of('episode-vectors', scope)}:{_encoded(embedder)}"

    def episode_vector_states(self, scope: Scope, embedder: str) -> str:
        return f"{self._of('episode-vector-states', scope)}:{_encoded(embedder)}"

    def decisions(self, scope: Scope, episode_id: UUID) -> str:
        return f"{self._of('decisions', scope)}:{episode_id}"

    @property
    def unrefined(self) -> str:
        return f"{self.prefix}:unrefined"

    @property
    def redaction_key(self) -> str:
        return f"{self.prefix}:redaction-key"

    @property
    def redactions(self) -> str:
        return f"{self.prefix}:redactions"

    def session_state(self, scope: Scope, session_id: str) -> str:
        return f"{self._of('courses', scope)}:{_encoded(session_id)}"

    def sessions_at(self, stage: SessionStatus) -> str:
        """Return the key of the sessions of all scopes at *stage*; ended sessions are not listed."""
        return f"{self.prefix}:{stage}-sessions"

    def fact_vectors(self, scope: Scope, embedder: str, *, dim: int, block: int) -> str:
        return f"{self._of('vectors', scope)}:{_encoded(embedder)}:{dim}:{block}"

    def of_scope(self, key: str, scope: Scope) -> str | None:
        """Return the kind of *key*, of any owner under this prefix, if it belongs to *scope*."""
        prefix, _, rest = key.partition(":")
        what, _, named = rest.partition(":")
        return what if (prefix, named.partition(":")[0]) == (self.prefix, _scoped(scope)) else None

    def transcript(self, scope: Scope, session_id: str, *, digest: str) -> str:
        return f"{self.transcripts_of(scope)}{_encoded(session_id)}:{digest}"

    def watched(self, scope: Scope, place: str) -> str:
        return f"{self._of('watched', scope)}:{place}"


def anchor_name(agent_id: str, session_id: str) -> str:
    """Return the field name of an agent's session within its scope."""
    return f"{_encoded(agent_id)}/{_encoded(session_id)}"


def member_name(scope: Scope, id_: str | UUID) -> str:
    """Return the member name of a session or an episode among those of all scopes."""
    return f"{_scoped(scope)} {_encoded(str(id_))}"


def member_named(name: bytes) -> tuple[Scope, str]:
    scope, _, id_ = name.decode().partition(" ")
    return Scope.parse(unquote(scope)), unquote(id_)


def _scoped(scope: Scope) -> str:
    return quote(str(scope), safe="/")


def _encoded(text: str) -> str:
    return quote(text, safe="")
