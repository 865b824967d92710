"""Command-line framework: lazy commands, shared options, errors as exit codes."""

import errno
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

import click
from click.exceptions import Exit
from typing_extensions import override

from nous.domain.errors import BadInput, Deferred, Misconfigured, NotFound, NousError, Retryable
from nous.domain.scope import Scope
from nous.text.sanitize import one_line, shortened

if TYPE_CHECKING:
    from nous.app.container import Container
    from nous.settings import Settings

FAILED = 1
BAD_INPUT = 3
MISCONFIGURED = 4
UNAVAILABLE = 5
DECLINED = 6
DEFECT = 70
INTERRUPTED = 130

_LONGEST = 3000  # characters of a message at most: names that are refused may be of any length

LARGEST_LIMIT = 1_000_000  # the most entries that a `--limit` can ask for
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
EXIT_CODES = {
    0: "success",
    FAILED: "a session, a fact or an event failed, an event is dead, or quality has dropped",
    2: "the command line is invalid",
    BAD_INPUT: "an input cannot be used, or there is nothing of that name",
    MISCONFIGURED: "a setting, a server or the installation has to be changed",
    UNAVAILABLE: "the server does not answer; the same command may succeed later",
    DECLINED: "you answered a question with no, and nothing was done",
    DEFECT: "a defect in nous",
    INTERRUPTED: "interrupted",
}

_CODES: tuple[tuple[type[NousError], int], ...] = (
    (BadInput, BAD_INPUT),
    (NotFound, BAD_INPUT),
    (Misconfigured, MISCONFIGURED),
    (Retryable, UNAVAILABLE),
    (Deferred, UNAVAILABLE),
)


@dataclass(frozen=True)
class App:
    """Settings and connections of one invocation (`click.pass_obj`), made on first use."""

    config_path: Path | None = None

    @cached_property
    def settings(self) -> "Settings":
        """The effective settings, loaded at first use. Loading them also configures logging."""
        from nous import log  # noqa: PLC0415 - `nous --help` needs neither structlog
        from nous.settings import load_settings  # noqa: PLC0415 - nor pydantic

        settings = load_settings(self.config_path)
        log.configure(settings.log_level, settings.log_format)
        return settings

    @cached_property
    def container(self) -> "Container":
        from nous.app.container import build  # noqa: PLC0415

        return build(self.settings)

    @property
    def scope(self) -> Scope:
        from nous.services.workspace import SessionScopes, working_directory  # noqa: PLC0415

        always = Scope.parse(self.settings.scope) if self.settings.scope else None
        return SessionScopes(always=always).of_directory(working_directory())

    def close(self) -> None:
        if "container" in self.__dict__:
            self.container.close()


_SCOPE_FORMS = "project, agent/project or tenant/agent/project"


def _parsed(_: click.Context, __: click.Parameter, written: str | None) -> Scope | None:
    return None if written is None else Scope.parse(written)


def _parsed_or_here(context: click.Context, _: click.Parameter, written: str | None) -> Scope:
    return context.ensure_object(App).scope if written is None else Scope.parse(written)


def option_of_scope(text: str, *, callback: Callable[..., Any] = _parsed, **how: Any) -> Callable[[Any], Any]:
    """Return an option `--scope` by which a command gets a `Scope`, or None if it is not given."""
    return click.option("--scope", help=text, callback=callback, **how)


scope_option = option_of_scope(f"{_SCOPE_FORMS}. Default: that of this directory.", callback=_parsed_or_here)
session_scope_option = option_of_scope(f"{_SCOPE_FORMS}. Default: that of the directory it ran in.")
any_scope_option = option_of_scope(f"{_SCOPE_FORMS}. Default: all scopes.")
json_option = click.option("--json", "as_json", help="Print JSON.", is_flag=True)
agent_option = click.option("--agent", help="Id of the agent whose session it is.", default="default")
format_option = click.option("--format", "format_", help="Read it as this format instead of detecting it.", metavar="F")
dry_run_option = click.option("--dry-run", help="Show what would be done. Change nothing.", is_flag=True)
yes_option = click.option("--yes", help="Do not ask for confirmation.", is_flag=True)


def limit_option(default: int) -> Callable[[Any], Any]:
    kind = click.IntRange(1, LARGEST_LIMIT)
    return click.option("--limit", help="Show at most this many.", default=default, type=kind, show_default=True)


def opened(name: str) -> AbstractContextManager[BinaryIO]:
    """Open the file *name* for reading, or standard input for `-`. Raises `BadInput`."""
    try:
        return cast("AbstractContextManager[BinaryIO]", click.open_file(name, "rb"))
    except OSError as error:
        raise BadInput(f"{name} could not be opened: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command's name, its target (`module:attribute`) and its line in the list of commands."""

    name: str
    target: str
    help: str

    def load(self) -> click.Command:
        module, _, attribute = self.target.partition(":")
        return cast("click.Command", getattr(import_module(module), attribute))


class Frame(click.Group):
    """Command group that imports commands lazily and maps errors to messages and exit codes."""

    def __init__(self, *, table: Sequence[CommandEntry], unlisted: Sequence[CommandEntry] = (), **options: Any) -> None:
        """List the commands of *table*; run *unlisted* ones, too."""
        super().__init__(**options)
        self._table = {command.name: command for command in table}
        self._known = {**self._table, **{command.name: command for command in unlisted}}

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self._known.get(cmd_name)
        return command.load() if command else None

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.help) for command in self._table.values()])

    @override
    def invoke(self, ctx: click.Context) -> Any:
        with _report_errors(debug=bool(ctx.find_root().params.get("debug"))):
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


@contextmanager
def _report_errors(*, debug: bool) -> Generator[None]:
    """Turn errors and interrupts into a message and an exit code; *debug* keeps the traceback."""
    try:
        yield
    except (click.ClickException, Exit):
        raise
    except (KeyboardInterrupt, click.Abort):
        _end("interrupted", INTERRUPTED)
    except BrokenPipeError as error:
        _silence(sys.stdout)
        raise Exit(0) from error  # the reader closed the pipe on purpose (`| head`): no failure
    except NousError as error:
        if debug:
            raise
        _end(str(error), exit_code(error))
    except Exception as error:  # outermost handler: users get one sentence, and the traceback with --debug
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _silence(sys.stdout)
            _end(f"the system could not read or write: {error.strerror}", FAILED)
        _end(f"a defect: {type(error).__name__}: {error} (--debug before the command shows where)", DEFECT)


def _end(message: str, code: int) -> NoReturn:
    click.echo(f"nous: {shortened(one_line(message), _LONGEST)}", err=True)
    raise Exit(code)


def exit_code(error: NousError) -> int:
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def _silence(stream: Any) -> None:
    """Discard the buffered output of *stream*; else Python reports the closed pipe on exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
