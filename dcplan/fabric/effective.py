"""Effective rate of scale-out links under load balancing and oversubscription."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkSpeed:
    """What a fabric gives a NIC port of a job that spans several leaf switches."""

    gbps: float
    """Effective one-way rate, after load balancing and oversubscription; 0 outside halls."""
    exchange_frac: float = 1.0
    """Share of that rate that an all-to-all reaches: less than 1 where rails are not connected."""
    in_network: bool = False
    """Whether its switches reduce gradients."""

    def serves(self, other: LinkSpeed) -> bool:
        """Return whether a run computed for ``other`` is not slower on this link.

        Examples
        --------
        >>> LinkSpeed(400.0).serves(LinkSpeed(252.6)), LinkSpeed(400.0).serves(LinkSpeed(400.0, 1.0, True))
        (True, False)
        """
        return (
            self.gbps >= other.gbps
            and self.exchange_frac >= other.exchange_frac
            and self.in_network >= other.in_network
        )


def effective_frac(
    balanced_frac: float,
    reference_frac: float,
    leaf_spine: float,
    spine_core: float,
    leaf_crossing_frac: float,
    pod_crossing_frac: float,
) -> float:
    r"""Return the share of a link's rate that the collectives of a large job get.

    .. math:: f = \min\left(1, \frac{b}{b_0}\right) \cdot \min\left(1, \frac{1}{x_1\,o_1},
              \frac{1}{x_2\,o_1\,o_2}\right)

    Measured training speeds include the load balancing of their networks, ``reference_frac``. The
    shares :math:`x_1` and :math:`x_2` of the traffic leave a leaf switch and a pod.

    Parameters
    ----------
    balanced_frac : float
        Share of line rate under the load balancing of this network, above 0. [-]
    reference_frac : float
        The same for the networks of the measured runs, above 0. [-]
    leaf_spine, spine_core : float
        Oversubscription of leaf and spine switches, above 0. [-]
    leaf_crossing_frac, pod_crossing_frac : float
        Share of a job's traffic that leaves a leaf switch, and a pod, above 0: small if the job is
        placed by topology, 1 if it is placed at random. [-]

    Examples
    --------
    Static hashing on a non-blocking network, and adaptive routing at 4 : 1:

    >>> round(effective_frac(0.6, 0.95, 1.0, 1.0, 0.5, 0.1), 3)
    0.632
    >>> effective_frac(0.95, 0.95, 4.0, 1.0, 0.5, 0.1)
    0.5
    """
    leaves = leaf_spine * leaf_crossing_frac
    pods = leaf_spine * spine_core * pod_crossing_frac
    return min(1.0, balanced_frac / reference_frac) * min(1.0, 1.0 / leaves, 1.0 / pods)
