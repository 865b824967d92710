"""Package of the RQ job-queue adapters: a table of the Redis keys in use. No code.

The keys are those that RQ's dashboards read, their lives those under `nous worker`. *kept* means without a TTL.

All installations on a server share these keys, and differ in <queue>, <job> and <worker> (see `nous.jobs.base`).

| key                                | type   | life        | holds                                                    |
|------------------------------------|--------|-------------|----------------------------------------------------------|
| rq:queues                          | set    | kept        | the keys of all queues: three for each worker            |
| rq:queue:<queue>                   | list   | kept        | jobs that wait; empty at rest                            |
| rq:queue:<queue>:intermediate      | list   | kept        | jobs that RQ's own worker is taking; empty at rest       |
| rq:wip:<queue>                     | zset   | kept        | executions, scored by when overdue; empty at rest        |
| rq:finished:<queue>                | zset   | kept        | finished jobs by expiry; RQ's maintenance removes them   |
| rq:failed:<queue>                  | zset   | kept        | the same for failed jobs                                 |
| rq:workers                         | set    | kept        | the keys of running workers; others remove dead ones     |
| rq:workers:<queue>                 | set    | kept        | the same, of one queue                                   |
| rq:worker:<worker>                 | hash   | 1 minute    | a worker; renewed by its heartbeat                       |
| rq:job:<job>                       | hash   | job_ttl     | a job; without a TTL until it has ended                  |
| rq:results:<job>                   | stream | job_ttl     | a job's results                                          |
| rq:execution:<job>:<execution>     | hash   | 90 seconds  | a running job; renewed by its heartbeat                  |
| rq:executions:<job>                | zset   | 150 seconds | a job's executions                                       |
| rq:worker:<worker>:executions      | set    | 150 seconds | executions of a worker; deleted when it stops            |
| rq:clean_groups                    | string | 15 minutes  | lock: a cleanup ran recently                             |
| rq:clean_registries:<queue>        | string | 15 minutes  | the same                                                 |
"""
