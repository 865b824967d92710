"""Stems of terms, as SQLite's full-text index makes them."""

import sqlite3
from collections.abc import Collection, Mapping

from nous.errors import Misconfigured

_SIGNS = "".join(sign for sign in map(chr, range(33, 127)) if not sign.isalnum() and sign not in "\"'`")
TOKENIZE = f"porter unicode61 remove_diacritics 2 tokenchars '{_SIGNS}'"
"""Terms are separated by spaces, and stemmed; one that ends in a sign stays as it is."""


def connected() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)


def opened() -> sqlite3.Connection:
    """A database in memory that threads may share, one at a time.

    Raises:
        Misconfigured: SQLite has no full-text index.
    """
    db = connected()
    try:
        db.execute(f"""CREATE VIRTUAL TABLE texts USING fts5 (terms, tokenize="{TOKENIZE}")""")
    except sqlite3.OperationalError as error:
        db.close()
        raise Misconfigured(
            f"search needs FTS5, and the SQLite {sqlite3.sqlite_version} of this Python lacks it ({error}): use a "
            "Python whose sqlite3 has it, as those of python.org, Debian and uv have"
        ) from error
    return db


class Stems:
    """The stem of every term that was asked for; a term without one is its own."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[str, str] = {}
        db.execute(f"""CREATE VIRTUAL TABLE stemmed USING fts5 (term, tokenize="{TOKENIZE}")""")
        db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab (stemmed, instance)")

    def of(self, terms: Collection[str]) -> Mapping[str, str]:
        """The stems of *terms*, and maybe of others."""
        asked = [term for term in terms if term not in self._known]
        if asked:
            self._known.update(zip(asked, asked, strict=True))
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO stemmed (rowid, term) VALUES (?, ?)", enumerate(asked))
            stems = self._db.execute("SELECT doc, term FROM stems WHERE offset = 0").fetchall()
            self._db.execute("ROLLBACK")
            self._known.update((asked[row], stem) for row, stem in stems)
        return self._known
