"""When the head of a line starts at the latest, and what others may take until then."""

from __future__ import annotations

import math
from collections.abc import Iterable, Set

from dcplan.demand.log.nodes import NONE, Nodes, Token


def reservation(
    nodes: Nodes, need: int, ends: Iterable[tuple[float, int, Token]]
) -> tuple[float, int, Set[int]]:
    """Return when a job fits at the latest, the units idle then in addition, and its nodes.

    Parameters
    ----------
    nodes : Nodes
        Idle units now.
    need : int
        Units of the job, which does not fit now.
    ends : iterable of tuple
        Running jobs in the order of their expected ends: end, units, and their places. [s]

    References
    ----------
    .. [1] D. Tsafrir, Y. Etsion, D. G. Feitelson, IEEE TPDS 18, 2007: EASY gives the first job a
       reservation.

    Examples
    --------
    Two nodes of 4 with a job of 3 on each. A job of 8 fits when the second has ended:

    >>> nodes = Nodes(8, 4)
    >>> first, second = nodes.place(3), nodes.place(3)
    >>> reservation(nodes, 8, [(10.0, 3, first), (20.0, 3, second)])
    (20.0, 0, {0, 1})
    """
    whole, rest = divmod(need, nodes.per_node)
    counted = len(nodes.idle) == 1
    free = nodes.free
    changed: dict[int, int] = {}
    full = set(nodes.idle_nodes)
    found = nodes.room(rest, nodes.per_node - 1) if rest else None
    room = -1 if found is None else found
    shadow = math.inf
    for end, units, place in ends:
        if end > shadow:  # all jobs that end together count
            break
        free += units
        if counted:
            shadow = end if free >= need else shadow
            continue
        for node, count in place:
            now_idle = changed.get(node, nodes.idle[node]) + count
            changed[node] = now_idle
            if now_idle == nodes.per_node:
                full.add(node)
            elif rest and now_idle >= rest:
                room = node
        if len(full) > whole or (len(full) == whole and (not rest or room >= 0)):
            shadow = end
    if counted or shadow == math.inf:
        return shadow, free - need, NONE
    room = -1 if room in full else room
    taken = set(sorted(full)[: whole + (1 if rest and room < 0 else 0)])
    return shadow, free - need, taken | ({room} if rest and room >= 0 else set())
