"""``dcplan demand`` of counters: use of accelerators, and what was idle while allocated."""
