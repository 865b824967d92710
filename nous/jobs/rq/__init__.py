"""Attempts as jobs of RQ. Its keys, which dashboards read, are on RQ's client alone; *kept* means without a TTL.

All installations on a server share these keys, and differ in <queue>, <job> and <worker>; `nous.jobs.base` has how.

| key                                | type   | life        | holds                                                    |
|------------------------------------|--------|-------------|----------------------------------------------------------|
| rq:queues                          | set    | kept        | the keys of all queues: three for each worker            |
| rq:queue:<queue>                   | list   | kept        | jobs that wait; empty at rest                            |
| rq:queue:<queue>:intermediate      | list   | kept        | jobs that RQ's own worker is taking; empty at rest       |
| rq:wip:<queue>                     | zset   | kept        | executions by when they are overdue; empty at rest       |
| rq:finished:<queue>                | zset   | kept        | jobs by when they expire; RQ's maintenance, which each   |
|                                    |        |             | worker process does now and then, strikes those that did |
| rq:failed:<queue>                  | zset   | kept        | the same of jobs that failed                             |
| rq:workers                         | set    | kept        | the keys of workers that run; those of dead ones are     |
|                                    |        |             | struck by the maintenance of others                      |
| rq:workers:<queue>                 | set    | kept        | the same, of one queue                                   |
| rq:worker:<worker>                 | hash   | 20 minutes  | a worker, as long as it is heard of                      |
| rq:job:<job>                       | hash   | job_ttl     | a job; without a TTL until it has ended                  |
| rq:results:<job>                   | stream | job_ttl     | what became of it                                        |
| rq:execution:<job>:<execution>     | hash   | 10 minutes  | a job that runs, as long as it is heard of               |
| rq:executions:<job>                | zset   | 11 minutes  | its executions                                           |
| rq:worker:<worker>:executions      | set    | 20 minutes  | what a worker runs; gone when it stops                   |
| rq:clean_groups                    | string | 15 minutes  | that somebody has cleaned up of late                     |
| rq:clean_registries:<queue>        | string | 15 minutes  | the same                                                 |
"""
