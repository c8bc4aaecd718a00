"""One function per verb: scenario or arguments in, :class:`dcplan.result.Result` out."""
