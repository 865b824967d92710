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
from nous.errors import BadInput, NotFound, NousError, Retryable
from nous.runtime.watching import AT_ONCE, Fate, Found, HandedOver, Rules, Sweep, Verdict, decide, lane_of
from nous.store.watched import Place, Remembered, Watched, name_of
from nous.transcript.folders import below, parts_of_sessions
from nous.transcript.sniff import UnknownFormat

_NO_TRANSCRIPT = "no transcript that nous can read"
_MOST_TOLD = 20
"""Files of one sweep that are named in the log, of those that were refused."""

log = structlog.get_logger(__name__)


class HandOver(Protocol):
    """Publishes what is in a file."""

    def __call__(self, path: Path, *, lane: Lane) -> Iterable[tuple[str, bool]]:
        """The ids of the sessions in the file, and whether each is new. Raises as `nous.producer.Producer.publish`."""
        ...


Told = Callable[[Sweep], object]
"""Is told of each sweep that came to its end."""


class Watcher:
    """Sweeps *places* every *interval* seconds until stopped. Any number may sweep the same, in as many processes.

    Nothing that it knows lasts but the times of the files and what *watched* remembers, and a file is remembered after
    it was handed over, never before: whenever it is killed, nothing is lost, and what is told twice is recognised.
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
        sweep, seen = Sweep(), set[Path]()
        for place in self._places:
            if not self._stopping.is_set():
                self._sweep(place, sweep, seen)
        return sweep

    def _sweep(self, place: Place, sweep: Sweep, seen: set[Path]) -> None:
        # Recalled before it is looked: what another watcher remembers meanwhile is not taken for gone.
        known, before = self._watched.recall(place), len(sweep.unreadable)
        names: set[str] = set()
        over: list[tuple[Found, str]] = []
        for found in _found(place.folder, sweep, seen):
            names.add(name := name_of(found.path))
            verdict = decide(found, known.get(name), self._clock(), rules=self._rules)
            if verdict is Verdict.OVER:
                over.append((found, name))
                continue
            sweep.fates[AT_ONCE[verdict]] += 1
            if verdict is Verdict.REFUSED_BEFORE:
                sweep.refused_before[found.path] = known[name].refused or ""
        for found, name in sorted(over, key=lambda each: -each[0].mtime_ns):
            if self._stopping.is_set():
                return
            fate, outcome = self._handed_over(found, place, sweep)
            sweep.fates[fate] += 1
            if outcome:
                self._watched.remember(place, name, outcome)
        is_whole = len(sweep.unreadable) == before
        self._watched.keep(place, without=known.keys() - names if is_whole else ())

    def _handed_over(self, found: Found, place: Place, sweep: Sweep) -> tuple[Fate, Remembered | None]:
        """What becomes of a file that is over, and what to remember of it; what goes wrong with it stops no other."""
        lane = lane_of(found, self._clock())
        try:
            sessions = tuple(self._hand_over(found.path, lane=lane))
        except NotFound as error:
            return self._put_off(found, error, sweep)
        except WasForgotten:
            return self._refused(found, FORGOTTEN, sweep)
        except UnknownFormat as error:
            # What it tells of the content is for whoever looks now, and not to be kept.
            return self._refused(found, str(error), sweep)[0], found.told(_NO_TRANSCRIPT)
        except BadInput as error:
            return self._refused(found, str(error), sweep)
        except Retryable as error:
            self._watched.keep(place)  # raises where it is the server, and not the file, that does not answer
            return self._put_off(found, error, sweep)
        except NousError:
            raise
        except Exception as error:  # the outermost call for one file: the others are handed over all the same
            log.exception("a file could not be handed over", path=str(found.path))
            return self._refused(found, f"a defect in nous: {type(error).__name__}: {error}", sweep)
        if not any(is_new for _, is_new in sessions):
            return Fate.KNOWN, found.told()
        sweep.handed_over.append(HandedOver(found.path, lane, tuple(session for session, _ in sessions)))
        return Fate.HANDED_OVER, found.told()

    def _put_off(self, found: Found, why: NousError, sweep: Sweep) -> tuple[Fate, None]:
        sweep.put_off[found.path] = str(why)
        return Fate.PUT_OFF, None

    def _refused(self, found: Found, why: str, sweep: Sweep) -> tuple[Fate, Remembered]:
        reason = why.removeprefix(f"{found.path} ").removeprefix(f"{found.path}: ")
        sweep.refused[found.path] = reason
        return Fate.REFUSED, found.told(reason)


class Journal:
    """Logs sweeps: at length if something came of them, and what cannot be read once in the life of a process."""

    def __init__(self) -> None:
        self._told: set[Path] = set()

    def __call__(self, sweep: Sweep) -> None:
        tell = log.info if sweep.has_news else log.debug
        tell("folders swept", seen=sweep.seen, **{fate.replace(" ", "_"): sweep.fates[fate] for fate in Fate})
        for path, reason in islice(sweep.refused.items(), _MOST_TOLD):
            log.warning("a file is refused, which is told once", path=str(path), reason=reason)
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
