"""Open single-threaded ONNX sessions; share optimized models. Loads onnxruntime, an extra."""

import fcntl
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnxruntime
import structlog
from onnxruntime import InferenceSession

from nous.domain.errors import Misconfigured

_log = structlog.stdlib.get_logger(__name__)

_PROVIDERS = ["CPUExecutionProvider"]
_COPY = "-onnxruntime-"  # part of the name of each folder in a cache

_ROOM = 500_000_000
"""Bytes that must be free before a copy of some 90 MB is saved: the server beside it has to write, too."""


def open_session(model: Path) -> InferenceSession:
    """Return a session that fits beside many other jobs: no memory arena, no spinning threads.

    Raises `Misconfigured`.
    """
    try:
        return InferenceSession(str(model), _options(), providers=_PROVIDERS)
    except Exception as error:  # onnxruntime's errors share no other base
        raise Misconfigured(f"{model} cannot be loaded: {error}") from error


def open_copy(copy: Path) -> InferenceSession | None:
    """Return a session of an optimized copy; None if it is missing, damaged or unreadable."""
    try:
        return open_session(copy)
    except Misconfigured:
        return None


def copy_of(model_id: str, cache: Path) -> Path:
    # Another version may optimize otherwise, or store the result in another form.
    return cache / f"{model_id}{_COPY}{onnxruntime.__version__}" / "model.onnx"


def save_copy(model: Path, to: Path) -> None:
    """Save the optimized *model*, with its weights in a file of their own that processes map.

    A failure, such as a full disk, is logged: it costs speed only. Other copies in the same cache are removed.
    """
    cache = to.parent.parent
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (cache / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it becomes free when its process dies
            if open_copy(to) is None:
                _save(model, to, cache)
    except BlockingIOError:
        pass  # another process is saving it
    except Exception as error:  # noqa: BLE001  (onnxruntime's errors share no other base)
        _log.info("embedder.copy_not_saved", path=str(to), reason=str(error), hint="each process loads more slowly")


def _save(model: Path, to: Path, cache: Path) -> None:
    for old in cache.glob(f"*{_COPY}*"):  # damaged, of another version, or half written by a process that died
        shutil.rmtree(old, ignore_errors=True)
    if shutil.disk_usage(cache).free < _ROOM:
        raise OSError(f"less than {_ROOM:,} bytes are free")
    options = _options()
    # The highest level whose result does not depend on the processor: the folder may move to another machine.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "weights.bin")
    with TemporaryDirectory(dir=cache, prefix=f"new{_COPY}") as folder:
        options.optimized_model_filepath = str(Path(folder, to.name))
        InferenceSession(str(model), options, providers=_PROVIDERS)
        for file in Path(folder).iterdir():
            with file.open("rb") as written:  # after a power cut it must not be there without its contents
                os.fsync(written.fileno())
        Path(folder).rename(to.parent)


def _options() -> Any:  # onnxruntime has no types for it
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
