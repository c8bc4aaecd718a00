"""Idle accelerators of a cluster, as one count or on nodes, and where a gang fits."""

from __future__ import annotations

from collections.abc import Sequence, Set

NONE: frozenset[int] = frozenset()
"""No nodes."""
Token = list[tuple[int, int]]
"""Accelerators that a job holds: pairs of a node and a count."""


class Nodes:
    """Nodes of equal size, kept by the number of idle accelerators on each.

    A job below one node takes the fullest node that has room. A larger job takes whole idle nodes,
    and the rest of it the fullest node that has room. One node of all accelerators is a plain count.

    Parameters
    ----------
    accelerators : int
        Accelerators of the cluster; a last node may have fewer than the others.
    per_node : int
        Accelerators of a node, at least 1.

    Raises
    ------
    ValueError
        When a number is below 1.

    Examples
    --------
    >>> cluster = Nodes(16, 8)
    >>> cluster.place(3), cluster.place(10), cluster.place(14), cluster.free
    ([(0, 3)], [(1, 8), (0, 2)], None, 3)
    """

    def __init__(self, accelerators: int, per_node: int) -> None:
        if accelerators < 1 or per_node < 1:
            msg = (
                f"a cluster of {accelerators} accelerators on nodes of {per_node}: at least 1 each"
            )
            raise ValueError(msg)
        self.per_node = min(per_node, accelerators)
        whole, rest = divmod(accelerators, self.per_node)
        self.idle = [self.per_node] * whole + ([rest] if rest else [])
        """Idle accelerators of each node."""
        self.free = accelerators
        self.size = accelerators
        self._by_idle: list[set[int]] = [set() for _ in range(self.per_node + 1)]
        for node, count in enumerate(self.idle):
            self._by_idle[count].add(node)
        self.whole_nodes = whole
        """Full-size nodes of the cluster."""

    @property
    def idle_nodes(self) -> Set[int]:
        """Whole nodes that are idle."""
        return self._by_idle[self.per_node]

    @property
    def most_on_a_node(self) -> int:
        """Largest number of idle accelerators on one node."""
        return next((k for k in range(self.per_node, 0, -1) if self._by_idle[k]), 0)

    def ever_fits(self, count: int) -> bool:
        """Return whether the empty cluster has a place for a job."""
        whole, rest = divmod(count, self.per_node)
        if count > self.size or whole > self.whole_nodes:
            return False
        smaller = self.size - self.whole_nodes * self.per_node
        return not rest or whole < self.whole_nodes or smaller >= rest

    def fits(self, count: int, without: Set[int] = NONE) -> bool:
        """Return whether a job fits now, leaving some nodes as they are."""
        if count > self.free:
            return False
        whole, rest = divmod(count, self.per_node)
        full = self._by_idle[self.per_node]
        idle = len(full) - len(full & without) if without else len(full)
        if whole > idle:
            return False
        return not rest or whole < idle or self.room(rest, self.per_node - 1, without) is not None

    def most(self, without: Set[int] = NONE) -> int:
        """Return the largest job that fits now, leaving some nodes as they are; smaller ones fit, too."""
        if len(self.idle) == 1:
            return 0 if 0 in without else self.free
        full = self._by_idle[self.per_node]
        whole = len(full) - len(full & without) if without else len(full)
        for idle in range(self.per_node - 1, 0, -1):
            nodes = self._by_idle[idle]
            if nodes and not (without and nodes <= without):
                return whole * self.per_node + idle
        return whole * self.per_node

    def place(self, count: int, without: Set[int] = NONE) -> Token | None:
        """Take accelerators for a job; None if it does not fit, and nothing changes."""
        if not self.fits(count, without):
            return None
        whole, rest = divmod(count, self.per_node)
        taken: Token = []
        if whole:
            full = self._by_idle[self.per_node]
            chosen = sorted(full - without if without else full)[:whole]
            for node in chosen:
                self.change(node, -self.per_node)
                taken.append((node, self.per_node))
        if rest:
            last = self.room(rest, self.per_node, without)
            assert last is not None  # noqa: S101 - fits() has found it
            self.change(last, -rest)
            taken.append((last, rest))
        return taken

    def force(self, count: int) -> Token:
        """Take accelerators wherever they are idle, the fullest nodes first; fewer if too few are."""
        taken = self.place(count)
        if taken is not None:
            return taken
        taken, need = [], min(count, self.free)
        for idle in range(1, self.per_node + 1):
            while need and self._by_idle[idle]:
                node = next(iter(self._by_idle[idle]))
                took = min(idle, need)
                self.change(node, -took)
                taken.append((node, took))
                need -= took
        return taken

    def release(self, token: Sequence[tuple[int, int]]) -> None:
        """Return the accelerators of a job."""
        for node, count in token:
            self.change(node, count)

    def change(self, node: int, count: int) -> None:
        """Make accelerators of a node idle, or take them where ``count`` is negative."""
        before = self.idle[node]
        self._by_idle[before].discard(node)
        self.idle[node] = before + count
        self._by_idle[before + count].add(node)
        self.free += count

    def room(self, count: int, most: int, without: Set[int] = NONE) -> int | None:
        """Return a node with room whose idle accelerators are fewest, at most ``most``."""
        if len(self.idle) == 1:
            return 0 if count <= self.idle[0] <= most and 0 not in without else None
        for idle in range(count, most + 1):
            nodes = self._by_idle[idle]
            if nodes and not without:
                return next(iter(nodes))
            for node in nodes:
                if node not in without:
                    return node
        return None
