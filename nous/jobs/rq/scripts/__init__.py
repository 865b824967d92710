"""Lua scripts that write what RQ writes, for many jobs at once.

Each file says at its top what it is given. They name keys that they were not given (RQ's keys hold the ids of jobs,
which are known only once a script has taken them from their queue): RQ does not run on a cluster, so none is excluded.
"""

from importlib import resources

import redis
from redis.commands.core import Script


def script(name: str, client: redis.Redis) -> Script:
    """The script *name*, sent as its digest once the server knows it."""
    return client.register_script((resources.files(__name__) / f"{name}.lua").read_text("utf-8"))
