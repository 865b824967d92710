"""Folders in which agents keep their transcripts, swept for sessions that are over and of which nobody has told."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

import structlog

from nous.bus.base import Lane
from nous.bus.tombstones import FORGOTTEN, WasForgotten
from nous.domain.errors import BadInput, NotFound, NousError, Retryable
from nous.redaction.error_text import redacted
from nous.redaction.tracebacks import folded, said, traced
from nous.services.folder_watch_rules import (
    AT_ONCE,
    Fate,
    Found,
    HandedOver,
    Outcome,
    Rules,
    Sent,
    Sweep,
    Verdict,
    decide,
    lane_of,
)
from nous.store.folder_state import Place, Remembered, Watched, name_of
from nous.transcript.detect import UnknownFormat
from nous.transcript.discovery import below, parts_of_sessions

_NO_TRANSCRIPT = "no transcript that nous can read"
_MOST_TOLD = 20
"""Files of one sweep that are named in the log, of those that were refused."""
_REST = 3600.0
"""Seconds until a file over which nous stumbled is tried again, as it stands: reading it costs, and each try is logged.

Only this process knows of it, so that one that is started again, as of a new release, tries at once.
"""
_LOST = "the server no longer knows the events that were published of it, and is told again"

log = structlog.get_logger(__name__)


class HandOver(Protocol):
    """Publishes what is in a file."""

    def __call__(self, path: Path, *, lane: Lane) -> Iterable[Sent]:
        """The sessions in the file, each when it is published. Raises as `nous.services.publisher.Producer.publish`."""
        ...


Told = Callable[[Sweep], object]
"""Is told of each sweep that came to its end."""


class Watcher:
    """Sweeps *places* every *interval* seconds until stopped. Any number may sweep the same, in as many processes.

    Nothing that it needs lasts but the times of the files and what *watched* remembers, and a file is remembered after
    it was handed over, never before, and only while the server knows all the events that tell of it: whenever one of
    both is killed, nothing is lost, and what is told twice is recognised.
    """

    def __init__(
        self,
        places: Sequence[Place],
        *,
        watched: Watched,
        hand_over: HandOver,
        rules: Rules,
        clock: Callable[[], float],
        interval: float,
        told: Told,
    ) -> None:
        self._places = places
        self._watched = watched
        self._hand_over = hand_over
        self._rules = rules
        self._clock = clock
        self._interval = interval
        self._told = told
        self._resting: dict[Found, tuple[float, Outcome]] = {}
        self._refused_here: dict[Path, Found] = {}
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Sweep now and then, until `stop`."""
        while not self._stopping.is_set():
            try:
                self._told(self.sweep())
            except NousError as error:
                log.warning("folders could not be swept to the end; will try again", error=str(error))
            except Exception:  # the outermost loop: a watcher that dies leaves a process that looks healthy
                log.exception("the watcher stumbled")
            self._stopping.wait(self._interval)

    def sweep(self) -> Sweep:
        """Hand over what is over and not known, what ended last first; of a file that two places hold, the first's.

        Raises:
            Retryable: the server took nothing; what was handed over until then is remembered.
            Misconfigured: it never will.
        """
        self._wake()
        sweep, seen = Sweep(), set[Path]()
        for place in self._places:
            if not self._stopping.is_set():
                self._sweep(place, sweep, seen)
        self._refused_here = {path: found for path, found in self._refused_here.items() if path in seen}
        return sweep

    def _sweep(self, place: Place, sweep: Sweep, seen: set[Path]) -> None:
        # Recalled before it is looked: what another watcher remembers meanwhile is not taken for gone.
        known, before = self._watched.recall(place), len(sweep.unreadable)
        names: set[str] = set()
        over: list[tuple[Found, str]] = []
        for found in _found(place.folder, sweep, seen):
            name = name_of(found.path)
            verdict = self._verdict(found, known.get(name))
            if verdict is not Verdict.PAST:  # nobody goes by what is remembered of one that is, which was another then
                names.add(name)
            if verdict is Verdict.OVER:
                over.append((found, name))
                continue
            sweep.fates[AT_ONCE[verdict]] += 1
            if verdict is Verdict.REFUSED_BEFORE:
                sweep.refused_before[found.path] = known[name].refused or ""
        for found, name in sorted(over, key=lambda each: -each[0].mtime_ns):
            if self._stopping.is_set():
                return
            self._take(found, name, place, sweep)
        is_whole = len(sweep.unreadable) == before
        self._watched.keep(place, without=known.keys() - names if is_whole else ())

    def _verdict(self, found: Found, remembered: Remembered | None) -> Verdict:
        """As `decide` says; but what was refused here is so, though another release has refused it since.

        Two that run side by side would otherwise read it, and tell of it, in turn at every sweep.
        """
        verdict = decide(found, remembered, self._clock(), rules=self._rules)
        is_refused = remembered and found.is_refused_as(remembered) and self._refused_here.get(found.path) == found
        return Verdict.REFUSED_BEFORE if verdict is Verdict.OVER and is_refused else verdict

    def _take(self, found: Found, name: str, place: Place, sweep: Sweep) -> None:
        """Hand over a file that is over, and remember what became of it."""
        lane, sent = lane_of(found, self._clock()), list[Sent]()
        _, rested = self._resting.get(found, (0.0, None))
        outcome = rested or self._handed_over(found, place, lane, sent)
        after = [each.event_id for each in sent]
        if outcome.remember and not self._watched.remember(place, name, outcome.remember, after=after):
            log.warning("what was handed over is lost: the file is handed over again", path=str(found.path), why=_LOST)
            outcome = Outcome(Fate.PUT_OFF, _LOST)
        sweep.add(found.path, outcome)
        if outcome.fate is Fate.REFUSED:
            self._refused_here[found.path] = found
        if outcome.fate is Fate.HANDED_OVER:
            sweep.handed_over.append(HandedOver(found.path, lane, tuple(each.session_id for each in sent)))

    def _handed_over(self, found: Found, place: Place, lane: Lane, sent: list[Sent]) -> Outcome:
        """What becomes of a file, with what was *sent* of it until then; what goes wrong with it stops no other."""
        try:
            sent.extend(
                self._hand_over(found.path, lane=lane)
            )  # each as it is published, also where it then breaks off
        except NotFound as error:
            return Outcome(Fate.PUT_OFF, str(error))
        except WasForgotten:
            return self._refused(found, FORGOTTEN)
        except UnknownFormat as error:
            # What it tells of the content is for whoever looks now, and not to be kept.
            return self._refused(found, str(error), kept=_NO_TRANSCRIPT)
        except BadInput as error:
            return self._refused(found, str(error))
        except Retryable as error:
            self._watched.keep(place)  # raises where it is the server, and not the file, that does not answer
            return Outcome(Fate.PUT_OFF, str(error))
        except NousError:
            raise
        except Exception as error:  # noqa: BLE001 (the outermost call for one file: the others are handed over all the same)
            return self._stumbled(found, error)
        is_news = any(each.is_new for each in sent)
        return Outcome(Fate.HANDED_OVER if is_news else Fate.KNOWN, remember=found.told())

    def _refused(self, found: Found, why: str, *, kept: str | None = None) -> Outcome:
        reason = why.removeprefix(f"{found.path} ").removeprefix(f"{found.path}: ")
        return Outcome(Fate.REFUSED, reason, found.refused(kept or reason, release=self._rules.release))

    def _stumbled(self, found: Found, error: Exception) -> Outcome:
        """Log that nous is at fault, and leave the file alone for a while."""
        trace = "\n".join(folded(traced(error)))
        log.error("a defect: a file could not be handed over", path=str(found.path), error=said(error), traceback=trace)
        outcome = Outcome(Fate.PUT_OFF, f"a defect in nous: {said(error)}", is_defect=True)
        self._resting[found] = self._clock() + _REST, outcome
        return outcome

    def _wake(self) -> None:
        """Have what was left alone for long enough tried again."""
        now = self._clock()
        self._resting = {each: rest for each, rest in self._resting.items() if now < rest[0] <= now + _REST}


class Journal:
    """Logs sweeps: at length if something came of them, and what cannot be read once in the life of a process."""

    def __init__(self) -> None:
        self._told: set[Path] = set()

    def __call__(self, sweep: Sweep) -> None:
        tell = log.info if sweep.has_news else log.debug
        tell("folders swept", seen=sweep.seen, **{fate.replace(" ", "_"): sweep.fates[fate] for fate in Fate})
        for path, reason in islice(sweep.refused.items(), _MOST_TOLD):
            log.warning("a file is refused, which is told once", path=str(path), reason=redacted(reason))
        for path in sweep.unreadable.keys() - self._told:
            log.warning("what cannot be read is not swept", path=str(path), reason=sweep.unreadable[path])
        self._told.update(sweep.unreadable)


def _found(folder: Path, sweep: Sweep, seen: set[Path]) -> Iterator[Found]:
    """The files of *folder*, or the file that it is, as they lie on disk; each once, wherever links lead to it."""
    files = [folder] if _is_file(folder) else below(folder, sweep.unreadable.__setitem__, left_out=parts_of_sessions)
    for path in files:
        try:
            own = path.resolve() if path.is_symlink() else path
            status = own.stat()
        except FileNotFoundError:  # since its folder was read
            continue
        except OSError as error:
            sweep.unreadable[path] = f"it could not be read: {os.strerror(error.errno or 0)}"
            continue
        if own not in seen and S_ISREG(status.st_mode):
            seen.add(own)
            yield Found(own, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
