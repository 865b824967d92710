"""`nous rq-dashboard`."""

from typing import TYPE_CHECKING

import click

from nous.cli.frame import App
from nous.errors import Misconfigured
from nous.server.connect import address, connect_rq, masked
from nous.settings.model import DashboardSettings

if TYPE_CHECKING:
    from nous.jobs.rq.dashboard import Login


@click.command("rq-dashboard")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=9181, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one.")
@click.pass_obj
def rq_dashboard(app: App, *, host: str, port: int) -> None:
    """Serve rq-dashboard for the configured server, an embedded one too, until interrupted.

    It shows RQ's queues, workers and jobs, those of this installation. What it deletes there is not lost: events wait
    in their streams until they are committed, and are queued again. On an address that others can reach it asks for the
    login of the settings dashboard.username and dashboard.password, and refuses to start without them.
    """
    try:
        from nous.jobs.rq import dashboard  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Misconfigured(f"{error.name} is not installed: install nous with the extra `dashboard`") from error
    from nous.jobs.base import JobNames  # noqa: PLC0415 - RQ is needed here only
    from nous.jobs.rq.job import AllowListedJob  # noqa: PLC0415 - RQ is needed here only

    login = _login(app.settings.dashboard)
    if login is None and not dashboard.is_loopback(host):
        raise Misconfigured(
            f"whoever reaches {host} could see and delete jobs: set dashboard.username and dashboard.password "
            "(NOUS_DASHBOARD__USERNAME, NOUS_DASHBOARD__PASSWORD), or listen on 127.0.0.1"
        )
    shown_as = masked(address(app.settings))
    names = JobNames(app.settings.prefix)
    client = connect_rq(app.settings)
    pages = dashboard.build(client, shown_as=shown_as, job_class=AllowListedJob, names=names, login=login)
    with dashboard.listen(pages, host=host, port=port) as server:
        click.echo(f"rq-dashboard of {shown_as} on http://{f'[{host}]' if ':' in host else host}:{server.port}")
        server.serve_forever()


def _login(settings: DashboardSettings) -> "Login | None":
    from nous.jobs.rq.dashboard import Login  # noqa: PLC0415 - an extra

    if settings.username is None and settings.password is None:
        return None
    if not settings.username or settings.password is None or not settings.password.get_secret_value():
        raise Misconfigured("dashboard.username and dashboard.password are needed both, or neither")
    return Login(settings.username, settings.password.get_secret_value())
