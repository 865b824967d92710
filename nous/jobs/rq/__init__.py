"""Package of the RQ job-queue adapters; `keys.md` lists the Redis keys in use."""
