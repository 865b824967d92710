"""A process says which plug-ins were installed while it ran."""

from structlog.testing import capture_logs

from nous.runtime.maintenance import PlugInNotice


def test_a_plug_in_that_appears_is_logged_once_with_what_to_do() -> None:
    installed = {"nous.workers: fact-extractor"}
    notice = PlugInNotice(lambda: frozenset(installed), interval=60)

    with capture_logs() as logs:
        waits = [notice.run_once()]
        installed.add("nous.workers: greeter")
        waits += [notice.run_once(), notice.run_once()]

    assert waits == [60] * 3
    assert [(line["event"], line["plug_in"], line["hint"]) for line in logs] == [
        ("plug_in.appeared", "nous.workers: greeter", "restart this process to use it")
    ]
