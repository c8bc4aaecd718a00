"""Pages in axe-core: no serious or critical finding at three widths, in light and in dark."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import dcplan
from dcplan.result import Result
from tests.plans import planned

WIDTHS = (390, 1280, 1920)
SCHEMES = ("light", "dark")
SEVERE = {"serious", "critical"}
PRICE = "systems.gb200-nvl72.price_usd=4.6e6"


def serve() -> Result:
    return dcplan.serve(
        "llama-3.1-70b", system=["dgx-h100", "dgx-h200"], isl=1024, osl=256, rate=50
    )


@pytest.fixture(scope="module", params=["plan", "tco", "serve", "compared"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("axe") / f"{request.param}.html"
    if request.param == "plan":
        return dcplan.export(planned("fleet-renewal"), path)
    if request.param == "tco":
        return dcplan.export(
            dcplan.tco("own-or-rent-1024-h200", sets=["sensitivity.samples=50"]), path
        )
    if request.param == "serve":
        return dcplan.export(serve(), path)
    other = planned("fleet-renewal", sets=[PRICE])
    return dcplan.export(planned("fleet-renewal"), path, against=other, labels=("now", "higher"))


def findings(browser: Any, file: Path, width: int, scheme: str) -> list[str]:
    """Return the serious and critical findings, each with the elements that it is about."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(file.as_uri())
    browser.execute_script(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    browser.set_script_timeout(120)
    script = "const end = arguments[0]; axe.run().then(end, error => end({error: String(error)}));"
    found = browser.execute_async_script(script)
    assert "error" not in found, found
    assert found["passes"], "axe checked nothing"
    return [
        f"{x['impact']} {x['id']}: {x['help']}: {[n['target'] for n in x['nodes'][:5]]}"
        for x in found["violations"]
        if x["impact"] in SEVERE
    ]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_has_no_serious_finding(browser: Any, file: Path, width: int, scheme: str) -> None:
    found = findings(browser, file, width, scheme)
    assert found == [], "\n".join(found)


@pytest.mark.browser
@pytest.mark.slow
def test_axe_finds_a_picture_without_words(browser: Any, tmp_path: Path) -> None:
    """The gate itself: a page with a known fault fails."""
    path = tmp_path / "bad.html"
    path.write_text("<html><body><img src='x.png'><p>text</p></body></html>", encoding="utf-8")
    assert any("image-alt" in x for x in findings(browser, path, 1280, "light"))
