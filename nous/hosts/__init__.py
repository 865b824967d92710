"""Hosts: programs whose agents report their sessions by hooks, and get notes.

Each module in `nous.hosts.contracts` describes one host. A distribution adds its own by an entry point of the group
`nous.hosts`.
"""

from collections.abc import Mapping

from nous.domain.errors import Misconfigured, NotFound
from nous.domain.plug_ins import PlugIns
from nous.hosts import contracts
from nous.hosts.base import Host

CONTRACTS = PlugIns(contracts, attribute="HOST", group="nous.hosts")


def hosts() -> Mapping[str, Host]:
    """Return every host by name. Raises `Misconfigured` for a plug-in that is none."""
    found = {each.name: each for each in CONTRACTS.all().values() if isinstance(each, Host)}
    if len(found) != len(CONTRACTS.names()):
        raise Misconfigured(f"a plug-in of {CONTRACTS.group} is no Host, or two have the same name")
    return found


def host_named(name: str) -> Host:
    found = hosts()
    if name not in found:
        raise NotFound(f"there is no host {name!r}; there are {', '.join(sorted(found))}")
    return found[name]
