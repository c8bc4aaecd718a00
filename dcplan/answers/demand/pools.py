"""Numbers of pools on the command line: ``N`` and ``POOL=N``, whose names may hold commas and equals signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcplan.errors import Place, Problem, did_you_mean

MOST_ACCELERATORS = 10_000_000


def numbers(
    flag: str, texts: Sequence[str], pools: Sequence[str]
) -> tuple[int | None, dict[str, int], list[Problem]]:
    """Return the number for all pools, that of each pool, and what is wrong with them.

    Parameters
    ----------
    flag : str
        Flag that has the texts, for problems.
    texts : sequence of str
        Values of the flag, split at each comma.
    pools : sequence of str
        Pools of the logs.

    Examples
    --------
    >>> numbers("--accelerators", ["a=1", "b", "c=2"], ["a", "b,c"])
    (None, {'a': 1, 'b,c': 2}, [])
    """
    alone: int | None = None
    each: dict[str, int] = {}
    count: dict[str, int] = {}
    problems = []
    for text in _whole(texts, pools):
        pool, _, number = text.rpartition("=")
        known = _named(pool, pools)
        if not _is_number(number):
            cause = (
                f"{text!r}: a whole number from 1 to {MOST_ACCELERATORS:,}, or POOL=N, is needed"
            )
            problems.append(Problem("DC050", cause, Place(flag)))
        elif not pool:
            if alone is not None:
                problems.append(
                    Problem("DC050", "more than one number without a pool", Place(flag))
                )
            alone = int(number)
        elif known is None:
            hint = did_you_mean(pool, pools)
            listed = "pools of the logs: " + ", ".join(sorted(pools)[:20])
            problems.append(
                Problem("DC010", f"the logs have no pool {pool!r}", Place(flag), hint, listed)
            )
        else:
            each[known] = int(number)
            count[known] = count.get(known, 0) + 1
    problems += [
        Problem("DC050", f"pool {name!r} has {n} numbers: give one", Place(flag))
        for name, n in count.items()
        if n > 1
    ]
    return alone, each, problems


def _whole(texts: Sequence[str], pools: Sequence[str]) -> Iterator[str]:
    """Yield values, with parts joined again where a comma is of the name of a pool.

    The shortest value that is a number, or has a pool of the logs, counts; if there is none, the part
    stays as it is.
    """
    i = 0
    while i < len(texts):
        ends = range(i + 1, len(texts) + 1)
        joined = (",".join(texts[i:j]) for j in ends)
        length = next((k for k, text in enumerate(joined, 1) if _is_value(text, pools)), 1)
        yield ",".join(texts[i : i + length])
        i += length


def _is_value(text: str, pools: Sequence[str]) -> bool:
    pool, _, number = text.rpartition("=")
    return _is_number(number) and (not pool or _named(pool, pools) is not None)


def _is_number(text: str) -> bool:
    return text.strip().isdigit() and 0 < int(text) <= MOST_ACCELERATORS


def _named(pool: str, pools: Sequence[str]) -> str | None:
    """Return the pool of a name, whatever blanks are around its commas."""
    plain = _plain(pool)
    return next((p for p in pools if _plain(p) == plain), None)


def _plain(name: str) -> str:
    return ",".join(part.strip() for part in name.split(","))
