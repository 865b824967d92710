"""Build the names of the store's Redis keys; document their type, lifetime and content.

`<p>` is the configured prefix, *kept* means without a TTL.

| key                                          | type   | life           | holds                                    |
|----------------------------------------------|--------|----------------|------------------------------------------|
| <p>:scopes                                   | set    | kept           | every scope with an episode or a fact    |
| <p>:episodes:<scope>                         | hash   | kept           | episode id -> the episode, JSON          |
| <p>:episode-versions:<scope>                 | hash   | kept           | episode id -> state, for the commit      |
| <p>:episode-editions:<scope>                 | hash   | kept           | <episode id>/<edition> -> an old edition |
| <p>:episode-vectors:<scope>:<embedder>       | hash   | kept           | episode id -> its vector, float32        |
| <p>:episode-vector-states:<scope>:<embedder> | hash   | kept           | episode id -> the state it was made from |
| <p>:briefs:<scope>                           | hash   | kept           | episode id -> its summary input, zlib    |
| <p>:decisions:<scope>:<episode id>           | hash   | kept           | event id -> a decision, JSON             |
| <p>:calibrations                             | hash   | kept           | embedder -> its threshold, measured      |
| <p>:unrefined                                | hash   | kept           | extractive episode -> last attempted by  |
| <p>:redaction-key                            | string | kept           | random key of placeholders for secrets   |
| <p>:redactions                               | hash   | kept           | <place>/<rule> -> how often it was found |
| <p>:anchors:<scope>                          | hash   | kept           | agent/session -> anchored summary        |
| <p>:anchor-states:<scope>                    | hash   | kept           | agent/session -> event, for the commit   |
| <p>:episodes-by-end:<scope>                  | zset   | kept           | episode ids by the second they ended     |
| <p>:courses:<scope>:<session>                | string | kept, 30 days  | the state of a session, JSON             |
| <p>:open-sessions                            | zset   | kept           | scope and session by the last activity   |
| <p>:closing-sessions                         | zset   | kept           | the same: idle, its end not processed    |
| <p>:abandoned-sessions                       | zset   | 30 days        | the same, by the time of abandonment     |
| <p>:facts-head:<scope>                       | string | kept           | the log's version, for the commit        |
| <p>:facts-rows:<scope>                       | list   | kept           | the log's rows (see `fact_rows.py`)      |
| <p>:vectors:<scope>:<embedder>:<dim>:<block> | string | kept           | vectors (see `fact_rows.py`)             |
| <p>:candidates:<scope>:{<tag>}               | vset   | kept           | facts by their vectors (vector sets)     |
| <p>:candidates-mark:<scope>:{<tag>}          | string | kept           | the log version that the set has reached |
| <p>:transcript:<scope>:<session>:<digest>    | string | until released | an uploaded transcript, gzip             |
| <p>:watched:<scope>:<place>                  | hash   | 30 days        | file (hashed) -> its last outcome, JSON  |
| <p>:aside:<scope>:<version>:<name>:<part>    | varies | an hour        | part of a rewrite of that log version    |
| <p>:rewriting:<scope>                        | string | 20 seconds     | lock: the log is being rewritten         |

A session state has no TTL while its session is open or closing, and a TTL of 30 days from then on: a late event about a
session that has ended does not restart it. Sessions leave the three sets when their status changes, abandoned ones
also after 30 days, at the next abandonment.

All but `calibrations`, the two about redaction and the last six are written only by a commit, an erasure or a
redaction. A transcript is written by a producer that publishes with an upload, and released by the commit of its event.
Folder records are written by every process that sweeps that folder of that host; their TTL of 30 days starts again with
each sweep. Candidates, which may be on another server, are an index of the log, updated by every process that is about
to compare facts.
"""

from dataclasses import dataclass
from functools import partialmethod
from hashlib import blake2b
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

    def _beginning(self, what: str, scope: Scope) -> str:
        return f"{self._of(what, scope)}:"

    vectors_of = partialmethod(_beginning, "vectors")
    transcripts_of = partialmethod(_beginning, "transcript")
    asides_of = partialmethod(_beginning, "aside")
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
    def calibrations(self) -> str:
        return f"{self.prefix}:calibrations"

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

    def candidates(self, scope: Scope, embedder: str, *, dim: int) -> tuple[str, str]:
        """Return the keys of a vector set and its watermark; a hash tag puts both into one slot."""
        tag = blake2b(f"{scope}\n{embedder}\n{dim}".encode(), digest_size=8).hexdigest()
        return f"{self._of('candidates', scope)}:{{{tag}}}", f"{self._of('candidates-mark', scope)}:{{{tag}}}"

    def candidates_of(self, scope: Scope) -> tuple[str, str]:
        """Return the prefixes of all vector sets of *scope* and of their watermarks."""
        return self._beginning("candidates", scope), self._beginning("candidates-mark", scope)

    def transcript(self, scope: Scope, session_id: str, *, digest: str) -> str:
        return f"{self.transcripts_of(scope)}{_encoded(session_id)}:{digest}"

    def watched(self, scope: Scope, place: str) -> str:
        return f"{self._of('watched', scope)}:{place}"

    def aside(self, scope: Scope, version: str, name: str, part: str) -> str:
        return f"{self.asides_of(scope)}{_encoded(version)}:{name}:{part}"


def anchor_name(agent_id: str, session_id: str) -> str:
    """Return the field name of an agent's session within its scope."""
    return f"{_encoded(agent_id)}/{_encoded(session_id)}"


def member_name(scope: Scope, id_: str | UUID) -> str:
    """Return the member name of a session or an episode among those of all scopes."""
    return f"{_scoped(scope)} {_encoded(str(id_))}"


def member_named(name: bytes) -> tuple[Scope, str]:
    """Parse what `member_name` returned."""
    scope, _, id_ = name.decode().partition(" ")
    return Scope.parse(unquote(scope)), unquote(id_)


def _scoped(scope: Scope) -> str:
    return quote(str(scope), safe="/")


def _encoded(text: str) -> str:
    return quote(text, safe="")
