"""Spare nodes and spare domains: the number that covers failed units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

NEVER = 1e-15
MOST_TRAYS = 4
"""Maximum spare trays per domain that are tried."""
MOST_UNITS = 10_000_000
"""Units that any number of spares covers at most: no place has as many."""
SEARCH_POOL_SPARES = 64
"""Spares that a larger pool may have more than that of one run, in the search of the longest wait."""


def down_quantile(count: float, down_frac: float, confidence: float) -> int:
    r"""Return the smallest k with :math:`P(\mathrm{Binomial}(n, p) \le k) \ge c`.

    Parameters
    ----------
    count : float
        Units in use, at least 0. [-]
    down_frac : float
        Share of time that a unit is down, in [0, 1).
    confidence : float
        Required probability, in (0, 1).

    Examples
    --------
    ByteRobust keeps 4 standby machines for 1,024 machines (p = 0.001):

    >>> down_quantile(1024, 0.001, 0.99)
    4
    """
    n = int(count)
    if n <= 0 or down_frac <= 0:
        return 0
    odds = math.log(down_frac) - math.log1p(-down_frac)
    log_term = n * math.log1p(-down_frac)
    total, k = math.exp(log_term), 0
    while total < confidence and k < n:
        log_term += math.log((n - k) / (k + 1.0)) + odds
        k += 1
        total += math.exp(log_term)
    return k


@lru_cache(maxsize=65536)
def most_covered(spares: int, down_frac: float, confidence: float) -> int:
    r"""Return the most units that some spares cover: the largest n with :math:`k(n) \le k`.

    Parameters
    ----------
    spares : int
        Spares k, at least 0.
    down_frac : float
        Share of time that a unit is down, in [0, 1).
    confidence : float
        Required probability of :func:`down_quantile`, in (0, 1).

    Examples
    --------
    Without a spare all n units must be up 99 % of the time: 0.999^10 = 0.99004, 0.999^11 = 0.98906.

    >>> most_covered(0, 0.001, 0.99), most_covered(1, 0.001, 0.99)
    (10, 148)
    """
    low, high = spares, max(2 * spares, 16)
    while high < MOST_UNITS and down_quantile(high, down_frac, confidence) <= spares:
        low, high = high, 2 * high
    if high >= MOST_UNITS:
        return MOST_UNITS
    while high - low > 1:
        middle = (low + high) // 2
        covers = down_quantile(middle, down_frac, confidence) <= spares
        low, high = (middle, high) if covers else (low, middle)
    return low


@dataclass(frozen=True)
class PoolRule:
    """How many spare nodes the runs of one system in one hall share."""

    node_accelerators: int
    down_frac: float
    """Share of time that a node is in repair."""
    confidence: float
    """Share of time in which the spares suffice."""

    def spares(self, nodes: int) -> int:
        """Return the spare nodes of a pool for the nodes of all its runs."""
        return down_quantile(nodes, self.down_frac, self.confidence)

    def most(self, spares: int) -> int:
        """Return the most nodes that some spare nodes cover."""
        return most_covered(spares, self.down_frac, self.confidence)


@lru_cache(maxsize=65536)
def longest_wait(nodes: int, rule: PoolRule) -> tuple[float, int]:
    """Return mean nodes in repair and spares of the pool in which a run waits longest.

    A run shares its pool with others, of any size. Of all pools with at least its own nodes, the wait
    is longest where the spares just suffice, in one of the smallest.

    Parameters
    ----------
    nodes : int
        Nodes of the run, at least 0.
    rule : PoolRule
        Size of a pool by its nodes.

    Examples
    --------
    A run of 64 nodes, each in repair 0.2 % of the time, has one spare, which covers up to 74 nodes: a pool
    of 74 nodes waits 0.94 % of the time, the run alone 0.72 %.

    >>> rule = PoolRule(8, 0.002, 0.99)
    >>> mean, spares = longest_wait(64, rule)
    >>> round(mean / 0.002), spares, round(waiting_frac(mean, spares), 4)
    (74, 1, 0.0094)
    """
    least = rule.spares(nodes)
    pools = ((rule.most(k) * rule.down_frac, k) for k in range(least, least + SEARCH_POOL_SPARES))
    return max(pools, key=lambda pool: waiting_frac(*pool)) if rule.down_frac > 0 else (0.0, 0)


def waiting_frac(mean_down: float, spares: int) -> float:
    r"""Return the share of time that a job waits because more nodes are in repair than spares exist.

    The job waits from the k+1-th node in repair on until one returns: Erlang's loss formula
    :math:`B(k+1, a)` where a is the mean number in repair of a job that never waits.

    Parameters
    ----------
    mean_down : float
        Nodes removed per day times mean repair days. [-]
    spares : int
        Spare nodes k, at least 0.

    References
    ----------
    .. [1] A. K. Erlang, 1917; the recursion B(n) = a B(n-1) / (n + a B(n-1)).

    Examples
    --------
    >>> waiting_frac(1.0, 0)
    0.5
    >>> round(waiting_frac(5.7, 4), 2), round(waiting_frac(5.7, 12), 4)
    (0.34, 0.0036)
    """
    blocked = 1.0
    for n in range(1, spares + 2):
        blocked = mean_down * blocked / (n + mean_down * blocked)
        if blocked < NEVER:
            return 0.0
    return blocked


def short_units(mean_down: float, spares: int) -> float:
    r"""Return the mean number of units in repair for which no spare exists.

    The number in repair is a Poisson variable X with mean a, because stops do not wait for repairs:
    :math:`E[\max(X - k, 0)] = \sum_{n \ge k} P(X > n)`.

    Parameters
    ----------
    mean_down : float
        Mean number of units in repair a, at least 0. [-]
    spares : int
        Spare units k, at least 0.

    Examples
    --------
    With a = 1 and one spare: 1 - 1 + P(X = 0) = 0.368.

    >>> round(short_units(1.0, 1), 3), short_units(5.0, 0)
    (0.368, 5.0)
    """
    log_term, covered, below = -mean_down, 0.0, 0.0
    # E[max(X - k, 0)] = a - k + sum over n < k of (k - n) P(X = n)
    for n in range(spares):
        covered += math.exp(log_term)
        below += covered
        log_term += math.log(mean_down) - math.log(n + 1.0) if mean_down > 0 else -math.inf
    return max(mean_down - spares + below, 0.0)


@dataclass(frozen=True)
class Spares:
    """Spares of a job."""

    accelerators: int
    nodes: int
    """Spare nodes at any place; 0 if spares are larger units."""
    domains: int
    """Spare units of several nodes: model-parallel groups, or complete scale-up domains."""
    trays_per_domain: int
    """Idle nodes in every domain."""
    mean_down: float = 0.0
    """Mean number of units (nodes, groups or domains) in repair, if the job never waits."""
    pooled_nodes: int = 0
    """Nodes of a run that shares its spares with others: ``nodes`` and ``mean_down`` are then those of the
    pool in which it waits longest, ``accelerators`` the spares of the run alone; 0: spares of its own."""

    @property
    def units(self) -> int:
        """Return the number of spare units."""
        return self.nodes or self.domains

    @cached_property
    def waiting_frac(self) -> float:
        """Return the share of time that the job waits for a spare."""
        return waiting_frac(self.mean_down, self.units)


def node_spares(nodes: int, node_accelerators: int, down_frac: float, confidence: float) -> Spares:
    """Return the spare nodes of a job whose model-parallel groups fit in a node.

    Any node can replace any other.
    """
    k = down_quantile(nodes, down_frac, confidence)
    return Spares(k * node_accelerators, k, 0, 0, nodes * down_frac)


def group_spares(
    nodes: int, group_nodes: int, node_accelerators: int, down_frac: float, confidence: float
) -> Spares:
    r"""Return the spares of a job whose model-parallel groups use several nodes of one domain.

    A failed node removes its group: :math:`p_g = 1 - (1-p)^g`.

    Examples
    --------
    >>> group_spares(792, 4, 4, 0.001, 0.99).accelerators
    48
    """
    p = -math.expm1(group_nodes * math.log1p(-down_frac)) if down_frac < 1 else 1.0
    groups = math.ceil(nodes / group_nodes)
    k = down_quantile(groups, p, confidence)
    return Spares(k * group_nodes * node_accelerators, 0, k, 0, groups * p)


def domain_spares(
    nodes: int, domain_nodes: int, node_accelerators: int, down_frac: float, confidence: float
) -> Spares:
    r"""Return the spares of a job that needs complete scale-up domains.

    The result has the fewest accelerators, over 0 to 4 idle trays per domain.

    A domain of m nodes with j idle nodes fails if more than j nodes fail:
    :math:`p_d = P(\mathrm{Binomial}(m, p) > j)`; the job then uses :math:`\lceil n/(m-j) \rceil`
    domains.

    Parameters
    ----------
    nodes : int
        Nodes (trays, hosts) that the job uses. [-]
    domain_nodes : int
        Nodes of one domain. [-]
    node_accelerators : int
        Accelerators of a node. [-]
    down_frac : float
        Share of time that a node is down.
    confidence : float
        In (0, 1).

    Examples
    --------
    32 racks of 18 trays of 4. With few failed trays, one tray of each rack is idle; a job of a single rack
    needs a second rack.

    >>> s = domain_spares(576, 18, 4, 0.001, 0.99)
    >>> s.domains, s.trays_per_domain, s.accelerators
    (0, 1, 144)
    >>> domain_spares(18, 18, 4, 0.01, 0.99).domains
    1
    """
    found = []
    for idle in range(min(MOST_TRAYS, domain_nodes - 1) + 1):
        used = -(-nodes // (domain_nodes - idle))
        p = _more_than(domain_nodes, down_frac, idle)
        k = down_quantile(used, p, confidence)
        extra = ((used + k) * domain_nodes - nodes) * node_accelerators
        found.append(Spares(extra, 0, k, idle, used * p))
    return min(found, key=lambda s: s.accelerators)


def _more_than(n: int, p: float, k: int) -> float:
    """Return P(Binomial(n, p) > k)."""
    if p <= 0:
        return 0.0
    return max(1.0 - sum(math.comb(n, i) * p**i * (1.0 - p) ** (n - i) for i in range(k + 1)), 0.0)
