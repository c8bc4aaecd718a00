"""Jobs that wait for accelerators: a queue of classes on a pool, and the pool that meets its waits."""
