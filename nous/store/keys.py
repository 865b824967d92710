"""The keys that the store owns. `<p>` is the configured prefix, *kept* means without a TTL.

| key                                          | type   | life           | holds                                    |
|----------------------------------------------|--------|----------------|------------------------------------------|
| <p>:scopes                                   | set    | kept           | every scope written to, as text          |
| <p>:episodes:<scope>                         | hash   | kept           | episode id -> the episode, JSON          |
| <p>:episode-versions:<scope>                 | hash   | kept           | episode id -> state, for the commit      |
| <p>:episode-editions:<scope>                 | hash   | kept           | <episode id>/<edition> -> an earlier one |
| <p>:episode-vectors:<scope>:<embedder>       | hash   | kept           | episode id -> its vector, float32        |
| <p>:episode-vector-states:<scope>:<embedder> | hash   | kept           | episode id -> of which state that is     |
| <p>:briefs:<scope>                           | hash   | kept           | episode id -> what it was made from      |
| <p>:decisions:<scope>:<episode id>           | hash   | kept           | event id -> a decision, JSON             |
| <p>:calibrations                             | hash   | kept           | embedder -> its threshold, measured      |
| <p>:unrefined                                | hash   | kept           | extractive episode -> tried in vain by   |
| <p>:anchors:<scope>                          | hash   | kept           | agent/session -> anchored summary        |
| <p>:anchor-states:<scope>                    | hash   | kept           | agent/session -> event, for the commit   |
| <p>:episodes-by-end:<scope>                  | zset   | kept           | episode ids by the second they ended     |
| <p>:courses:<scope>:<session>                | string | kept, 30 days  | how far a session has come, JSON         |
| <p>:open-sessions                            | zset   | kept           | scope and session by the last activity   |
| <p>:closing-sessions                         | zset   | kept           | the same: idle, its end not dealt with   |
| <p>:abandoned-sessions                       | zset   | 30 days        | the same: given up, by the second of it  |
| <p>:facts-head:<scope>                       | string | kept           | the log's version, for the commit        |
| <p>:facts-rows:<scope>                       | list   | kept           | the log's rows (see `fact_rows.py`)      |
| <p>:vectors:<scope>:<embedder>:<dim>:<block> | string | kept           | vectors (see `fact_rows.py`)             |
| <p>:candidates:<scope>:{<tag>}               | vset   | kept           | facts by their vectors (vector sets)     |
| <p>:candidates-mark:<scope>:{<tag>}          | string | kept           | how much of the log that set has         |
| <p>:transcript:<scope>:<session>:<digest>    | string | until released | an uploaded transcript, gzip             |
| <p>:watched:<scope>:<place>                  | hash   | 30 days        | file (hashed) -> what became of it, JSON |
| <p>:aside:<scope>:<version>:<name>:<part>    | varies | an hour        | part of a log made anew of that version  |
| <p>:rewriting:<scope>                        | string | 20 seconds     | that somebody makes the log anew         |

A course is kept while its session is open or closing, and for 30 days from then: what is said late of a
session that has ended does not begin it anew. Sessions leave the three sets as they move on, abandoned ones after 30
days at most.

All but the last six are written only by a commit, and removed by one or by who forgets. A transcript is written by
whoever publishes with an upload; the commit of its event releases it, or whoever publishes that again, once nobody
needs it. What is watched is written by whoever sweeps that folder of that host, and kept for 30 days from the last
sweep on. Candidates, which may be on another server, are written from the log by whoever is about to judge.
"""

from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import quote, unquote
from uuid import UUID

from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.domain.session_state import Stage


@dataclass(frozen=True, slots=True)
class StoreKeys:
    """Names of keys under a prefix. What comes from outside is percent-encoded, so no two names can meet."""

    prefix: str = "nous"

    @property
    def scopes(self) -> str:
        return f"{self.prefix}:scopes"

    def episodes(self, scope: Scope) -> str:
        return self._of("episodes", scope)

    def episode_versions(self, scope: Scope) -> str:
        return self._of("episode-versions", scope)

    def episode_editions(self, scope: Scope) -> str:
        return self._of("episode-editions", scope)

    def episode_vectors(self, scope: Scope, embedder: str) -> str:
        return f"{self._of('episode-vectors', scope)}:{_encoded(embedder)}"

    def episode_vector_states(self, scope: Scope, embedder: str) -> str:
        return f"{self._of('episode-vector-states', scope)}:{_encoded(embedder)}"

    def briefs(self, scope: Scope) -> str:
        return self._of("briefs", scope)

    def decisions(self, scope: Scope, episode_id: UUID) -> str:
        return f"{self._of('decisions', scope)}:{episode_id}"

    def anchors(self, scope: Scope) -> str:
        return self._of("anchors", scope)

    def anchor_states(self, scope: Scope) -> str:
        return self._of("anchor-states", scope)

    @property
    def calibrations(self) -> str:
        return f"{self.prefix}:calibrations"

    @property
    def unrefined(self) -> str:
        return f"{self.prefix}:unrefined"

    def episodes_by_end(self, scope: Scope) -> str:
        return self._of("episodes-by-end", scope)

    def course(self, scope: Scope, session_id: str) -> str:
        return f"{self.courses_of(scope)}{_encoded(session_id)}"

    def courses_of(self, scope: Scope) -> str:
        """What the names of the courses of all sessions of *scope*, and no others, begin with."""
        return f"{self._of('courses', scope)}:"

    def sessions_at(self, stage: Stage) -> str:
        """The sessions of all scopes that are at *stage*; those that have ended are not listed."""
        return f"{self.prefix}:{stage}-sessions"

    def fact_head(self, scope: Scope) -> str:
        return self._of("facts-head", scope)

    def fact_rows(self, scope: Scope) -> str:
        return self._of("facts-rows", scope)

    def fact_vectors(self, scope: Scope, embedder: str, *, dim: int, block: int) -> str:
        return f"{self._of('vectors', scope)}:{_encoded(embedder)}:{dim}:{block}"

    def vectors_of(self, scope: Scope) -> str:
        """What the names of all blocks of vectors of *scope*, and no others, begin with."""
        return f"{self._of('vectors', scope)}:"

    def of_scope(self, key: str, scope: Scope) -> str | None:
        """What *key*, of whichever owner under this prefix, is called among those of *scope*; None if it is of none."""
        prefix, _, rest = key.partition(":")
        what, _, named = rest.partition(":")
        return what if (prefix, named.partition(":")[0]) == (self.prefix, _scoped(scope)) else None

    def candidates(self, scope: Scope, embedder: str, *, dim: int) -> tuple[str, str]:
        """The set of an embedder's candidates and its mark, which their tag puts into one slot of a cluster."""
        tag = blake2b(f"{scope}\n{embedder}\n{dim}".encode(), digest_size=8).hexdigest()
        return f"{self._of('candidates', scope)}:{{{tag}}}", f"{self._of('candidates-mark', scope)}:{{{tag}}}"

    def candidates_of(self, scope: Scope) -> tuple[str, str]:
        """What the names of all sets of candidates of *scope* and of their marks, and no others, begin with."""
        return f"{self._of('candidates', scope)}:", f"{self._of('candidates-mark', scope)}:"

    def transcript(self, scope: Scope, session_id: str, *, digest: str) -> str:
        return f"{self.transcripts_of(scope)}{_encoded(session_id)}:{digest}"

    def transcripts_of(self, scope: Scope) -> str:
        """What the names of all transcripts uploaded for *scope*, and no others, begin with."""
        return f"{self._of('transcript', scope)}:"

    def watched(self, scope: Scope, place: str) -> str:
        return f"{self._of('watched', scope)}:{place}"

    def aside(self, scope: Scope, version: str, name: str, part: str) -> str:
        return f"{self.asides_of(scope, version)}{name}:{part}"

    def asides_of(self, scope: Scope, version: str | None = None) -> str:
        """What the names of all that is written aside for *scope*, from its log at *version*, begin with."""
        made_of = "" if version is None else f"{_encoded(version)}:"
        return f"{self._of('aside', scope)}:{made_of}"

    def rewriting(self, scope: Scope) -> str:
        return self._of("rewriting", scope)

    @property
    def transcripts(self) -> str:
        """What the names of all uploaded transcripts begin with."""
        return f"{self.prefix}:transcript:"

    def _of(self, what: str, scope: Scope) -> str:
        return f"{self.prefix}:{what}:{_scoped(scope)}"


def anchor_name(agent_id: str, session_id: str) -> str:
    """How an agent's session is called among those of its scope."""
    return f"{_encoded(agent_id)}/{_encoded(session_id)}"


def unrefined_name(scope: Scope, episode_id: UUID | str) -> str:
    """How an episode is called among those of all scopes."""
    return f"{_scoped(scope)} {episode_id}"


def unrefined_named(name: bytes) -> tuple[Scope, UUID] | None:
    """The scope and the episode that *name* stands for; None for a name that somebody else has written."""
    try:
        scope, _, episode_id = name.decode().partition(" ")
        return Scope.parse(unquote(scope)), UUID(episode_id)
    except (BadInput, ValueError):
        return None


def session_name(scope: Scope, session_id: str) -> str:
    """How a session is called among those of all scopes."""
    return f"{_scoped(scope)} {_encoded(session_id)}"


def session_named(name: bytes) -> tuple[Scope, str] | None:
    """The scope and the session that *name* stands for; None for a name that somebody else has written."""
    try:
        scope, _, session_id = name.decode().partition(" ")
        return (Scope.parse(unquote(scope)), unquote(session_id)) if session_id else None
    except (BadInput, ValueError):
        return None


def scope_named(name: bytes) -> Scope | None:
    """The scope that is called so; None for a name that somebody else has written."""
    try:
        return Scope.parse(name.decode())
    except (BadInput, ValueError):
        return None


def _scoped(scope: Scope) -> str:
    return quote(str(scope), safe="/")


def _encoded(text: str) -> str:
    return quote(text, safe="")
