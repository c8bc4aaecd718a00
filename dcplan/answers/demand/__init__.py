"""``dcplan demand``: what recorded jobs waited for, and the accelerators that would keep their waits."""
