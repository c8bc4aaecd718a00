"""Logs that can be shared: no names, no dates, the same load and the same hours of the week."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from dcplan.demand.log.jobs import Index, JobLog
from dcplan.units import SECONDS_PER_WEEK

HASH_DIGITS = 16
LEAST_WEEKS, MOST_WEEKS = 52, 520
"""Shift into the past, from one to ten years."""
WORD = re.compile(r"[A-Za-z_]+")
"""Start of a reason: Slurm adds names of nodes and reservations after it."""
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
PARTS = re.compile(
    r"accounts?|accrue|admin|admitted|array|assoc|avail|bad|bb|begin|billing|buffer|burst|changed|"
    r"cleaning|code|config|constraints|cpus?|cred|dead|deadline|deleted|dependency|down|duration|end|"
    r"energy|evicted|exit|fail|failed|failure|fed|front|gres|group|grp|held|hold|in|inactive|invalid|"
    r"jobs?|launch|licenses?|limit|lock|max|mem|memory|min|minutes|never|nodes?|non|not|of|out|"
    r"parallel|partition|pending|per|power|preempted|preemption|priority|prolog|qos|quota|reboot|req|"
    r"requeued|reservation|reserved|resources|run|satisfied|stage|state|submit|suspended|system|"
    r"tasks?|thres|time|timeout|tres|undefined|unknown|up|usage|user|wait|waiting|wall|wckey|zero",
    re.IGNORECASE,
)
"""Parts of the names that schedulers give to reasons, such as QOSMaxGRESPerUser."""
OTHER = "Other"
"""A reason that is in no such words: it may hold a name."""


def anonymous(log: JobLog, seed: bytes | None = None) -> JobLog:
    """Return the log with hashed users, numbered pools, and times moved by whole weeks.

    Names are hashed with HMAC-SHA256; without the salt, nobody can hash a list of known names and
    compare. A reason is cut to the rule of the scheduler; a text of another kind is left out, because
    it may hold a name. Hours of the week stay, in UTC. Sizes, run times and waits stay exact: a person who
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
    users = [f"user-{_hash(salt, f'user {name}')}" for name in log.users]
    hashes = [_hash(salt, f"pool {name}") for name in log.pools]
    places = {digest: i for i, digest in enumerate(sorted(hashes), 1)}
    pools = [f"pool-{places[digest]}" for digest in hashes]
    names = frozenset(name.lower() for name in (*log.users, *log.pools))
    reasons = [_rule(text, names) for text in log.reasons]
    new_users, user = _recoded(users, log.user)
    new_pools, pool = _recoded(pools, log.pool)
    new_reasons, reason = _recoded(reasons, log.reason)
    _, job = np.unique(log.job, return_inverse=True)
    return replace(
        _moved(log, weeks * SECONDS_PER_WEEK),
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
    )


def _moved(log: JobLog, shift_s: float) -> JobLog:
    """Return the log earlier by a time."""
    times = ("submit_s", "eligible_s", "start_s", "end_s")
    return replace(log, **{name: getattr(log, name) - shift_s for name in times})


def _rule(text: str, names: Set[str]) -> str:
    """Return the rule of a scheduler at the start of a reason, which is no name of the log.

    Examples
    --------
    >>> _rule("ReqNodeNotAvail, UnavailableNodes:gpu07", set()), _rule("bob has no quota", set())
    ('ReqNodeNotAvail', 'Other')
    """
    match = WORD.match(text)
    word = match[0] if match else ""
    named = word[:1].isupper() or "_" in word
    parts = PART.findall(word)
    known = bool(parts) and all(PARTS.fullmatch(part) for part in parts)
    return word if named and known and word.lower() not in names else OTHER


def _hash(salt: bytes, text: str) -> str:
    return hmac.new(salt, text.encode(), "sha256").hexdigest()[:HASH_DIGITS]


def _recoded(names: Sequence[str], numbers: Index) -> tuple[tuple[str, ...], Index]:
    """Return sorted names, which tell nothing of the old order, and the new numbers."""
    ordered = sorted(set(names))
    new = np.array([ordered.index(name) for name in names] + [-1], dtype=np.int64)
    return tuple(ordered), np.asarray(new[numbers], dtype=np.int64)
