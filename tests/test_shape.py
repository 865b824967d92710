"""The shape of the code: small files, short functions, no circles, and packages that cost nothing to import."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = tuple(path for folder in ("nous", "workers") for path in sorted((ROOT / folder).rglob("*.py")))
TESTS = tuple(sorted((ROOT / "tests").rglob("*.py")))

LONGEST_FILE = 400
LONGEST_FUNCTION = 40
HEAVY = ("numpy", "rq", "redis", "onnxruntime", "tokenizers", "pydantic", "structlog", "flask")
OUT_OF_REACH = ("nous.bus", "nous.jobs", "nous.runtime", "nous.redis_server", "nous.app", "redis", "rq")
"""What a worker must not know, beside the other workers."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in CODE}
WORKERS = tuple(name for name in MODULES if name.startswith("workers."))


def test_every_file_fits_in_one_reading() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in CODE + TESTS}

    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


def test_every_function_fits_on_one_screen() -> None:
    sizes = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in CODE + TESTS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert len(sizes) > len(CODE)
    assert {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION} == {}


def test_imports_never_go_in_circles_not_even_lazy_ones() -> None:
    graph = {name: [found for found in imports(name) if found in MODULES and found != name] for name in MODULES}

    assert set(TopologicalSorter(graph).static_order()) == set(MODULES)


@pytest.mark.parametrize("worker", WORKERS)
def test_a_worker_knows_no_other_worker_and_not_who_runs_it(worker: str) -> None:
    forbidden = (*OUT_OF_REACH, *(other for other in WORKERS if other != worker))

    assert [name for name in imports(worker) if f"{name}.".startswith(tuple(f"{far}." for far in forbidden))] == []


@pytest.mark.parametrize("package", ["nous", "nous.cli", "nous.summary", "workers"])
def test_importing_a_package_loads_nothing_heavy(package: str) -> None:
    script = f"import sys, {package}; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()

    assert package in loaded
    assert [name for name in loaded if name in HEAVY] == []


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def imports(name: str) -> Iterator[str]:
    """What the module *name* imports, anywhere in it; `from package import module` counts as the module."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names)
