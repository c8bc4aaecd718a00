"""Answer requests with NVIDIA AIConfigurator: the part of the bench that runs in its environment.

``python -P tests/bench/aiconfigurator_estimate.py REQUESTS ANSWERS``, both files of JSON lines.

The file imports nothing of dcplan. Option ``-P`` keeps ``tests/bench/aiconfigurator.py`` from hiding
the package of the same name.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, ``(1, 2, 0, 5)`` of ``1.2.0rc5``."""
    return tuple(int(n) for n in re.findall(r"\d+", version))


def order(offered: list[str], release: str) -> list[str]:
    """Return versions of measured tables, the one nearest to a release first.

    The newest that is not newer than the release comes first, then older ones, then newer ones.
    """
    wanted = numbers(release)
    known = sorted(offered, key=numbers)
    if not wanted:
        return known[::-1]
    older = [v for v in known if numbers(v)[: len(wanted)] <= wanted]
    return older[::-1] + [v for v in known if v not in older]


def answer(estimate: Any, request: dict[str, Any], versions: list[str]) -> dict[str, Any]:
    """Return times of the first version that has an answer, else the refusal of the first."""
    refusals = []
    for version in versions:
        try:
            found = estimate(**request["call"], backend_version=version)
        except Exception as error:  # any refusal is a result
            refusals.append(f"{type(error).__name__}: {error}"[:400])
            continue
        return {
            "id": request["id"],
            "tpot_ms": float(found.tpot),
            "ttft_ms": float(found.ttft),
            "version": version,
            "over_memory": bool(getattr(found, "kv_cache_warning", None)),
        }
    return {"id": request["id"], "refused": refusals[0] if refusals else "no tables"}


def main() -> None:
    from aiconfigurator.cli.api import cli_estimate  # type: ignore[import-not-found]
    from aiconfigurator.sdk.perf_database import get_supported_databases  # type: ignore[import-not-found]

    logging.disable(logging.CRITICAL)
    requests, answers = Path(sys.argv[1]), Path(sys.argv[2])
    offered = get_supported_databases()
    with answers.open("w", encoding="utf-8") as out:
        out.write(json.dumps({"package": metadata.version("aiconfigurator")}) + "\n")
        for line in requests.read_text(encoding="utf-8").splitlines():
            request = json.loads(line)
            began = time.perf_counter()
            call = request["call"]
            known = offered.get(call["system_name"], {}).get(call["backend_name"], [])
            found = answer(cli_estimate, request, order(list(known), request["release"]))
            found["seconds"] = round(time.perf_counter() - began, 3)
            out.write(json.dumps(found) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
