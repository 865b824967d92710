"""Package of hosts: each module describes one as `HOST`."""
