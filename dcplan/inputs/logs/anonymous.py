"""Logs that can be shared: no names, no dates, the same load and the same hours of the week."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcplan.demand.log.jobs import Index, JobLog
from dcplan.units import SECONDS_PER_WEEK

HASH_DIGITS = 16
LEAST_WEEKS, MOST_WEEKS = 52, 520
"""Shift into the past, from one to ten years."""
WORD = re.compile(r"[A-Za-z_]+")
"""What is kept of a reason: Slurm adds names of nodes and reservations after it."""


def anonymous(log: JobLog, seed: bytes | None = None) -> JobLog:
    """Return the log with hashed users, numbered pools, and times moved by whole weeks.

    Names are hashed with HMAC-SHA256; without the salt, nobody can hash a list of known names and
    compare. Hours of the week stay, in UTC. Sizes, run times and waits stay exact: a person who
    knows one of the jobs may find it again.

    Parameters
    ----------
    log : JobLog
    seed : bytes or None
        Salt. The same salt gives the same names, so that later logs of one cluster can be joined;
        None: a random one, which is kept nowhere.

    Raises
    ------
    ValueError
        When the salt is empty.

    Examples
    --------
    >>> from dcplan.demand.log.jobs import log_of
    >>> log = log_of([6e8], [6e8], [7e8], [8], pools=("secret",), users=("ada",), user=[0])
    >>> found = anonymous(log, b"salt")
    >>> found.pools, found.users[0][:5], float(found.end_s[0] - found.submit_s[0])
    (('pool-1',), 'user-', 100000000.0)
    """
    salt = secrets.token_bytes(32) if seed is None else seed
    if not salt:
        msg = "the salt is empty"
        raise ValueError(msg)
    weeks = LEAST_WEEKS + int(_hash(salt, "weeks"), 16) % (MOST_WEEKS - LEAST_WEEKS)
    shift_s = weeks * SECONDS_PER_WEEK
    users = [f"user-{_hash(salt, f'user {name}')}" for name in log.users]
    hashes = [_hash(salt, f"pool {name}") for name in log.pools]
    places = {digest: i for i, digest in enumerate(sorted(hashes), 1)}
    pools = [f"pool-{places[digest]}" for digest in hashes]
    matches = [WORD.match(name) for name in log.reasons]
    reasons = [match[0] if match else "Other" for match in matches]
    new_users, user = _recoded(users, log.user)
    new_pools, pool = _recoded(pools, log.pool)
    new_reasons, reason = _recoded(reasons, log.reason)
    _, job = np.unique(log.job, return_inverse=True)
    return replace(
        log,
        users=new_users,
        user=user,
        pools=new_pools,
        pool=pool,
        reasons=new_reasons,
        reason=reason,
        job=np.asarray(job, dtype=np.int64).reshape(-1),
        ids=(),
        hosts=(),
        host=np.full(len(log), -1),
        submit_s=log.submit_s - shift_s,
        eligible_s=log.eligible_s - shift_s,
        start_s=log.start_s - shift_s,
        end_s=log.end_s - shift_s,
    )


def _hash(salt: bytes, text: str) -> str:
    return hmac.new(salt, text.encode(), "sha256").hexdigest()[:HASH_DIGITS]


def _recoded(names: Sequence[str], numbers: Index) -> tuple[tuple[str, ...], Index]:
    """Return sorted names, which tell nothing of the old order, and the new numbers."""
    ordered = sorted(set(names))
    new = np.array([ordered.index(name) for name in names] + [-1], dtype=np.int64)
    return tuple(ordered), np.asarray(new[numbers], dtype=np.int64)
