"""Reference page of the Python interface, made from the docstrings of its functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import dcplan
from dcplan.report.pages.page_text import MADE, page_table

INTRO = """\
# Python

`import dcplan` has a function for each verb. A function takes the fields of the command line as
keywords (`--time-limit` is `time_limit_s`, `--set` is `sets`) and returns a `Result`. A scenario
is a path or the name of a packaged example.

```python
import dcplan

plan = dcplan.plan("train-405b-in-90-days", sets={"finance.discount_rate": 0.09}).require_plan()
plan.value("cost.npv_usd")      # one figure
plan.frame("racks")             # one table as a pandas DataFrame; also "metrics" and "inputs"
dcplan.export(plan, "plan.xlsx")
```

The function names are also the names of rooms in the package (`dcplan.fabric`, `dcplan.catalog`).
`from dcplan.fabric.X import Y` reads the room; the attribute is the function.

"""
SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples)\n-+\n", re.MULTILINE)
METHODS = ("require_plan", "value", "input_value", "frame", "frames", "as_dict", "to_json")
"""Methods of a result on the page, in order."""


def python_page() -> str:
    """Write every function and type of the interface."""
    names = {name: getattr(dcplan, name) for name in (*dcplan.FUNCTIONS, *dcplan.TYPES)}
    rows = [(f"[`{name}`](#{name.lower()})", _first(item)) for name, item in names.items()]
    out = [MADE + INTRO + page_table(("name", "what it does"), rows)]
    for name, item in names.items():
        out.append(f"## {name}\n")
        if isinstance(item, type):
            out.append(f"{_marked(inspect.getdoc(item) or '')}\n")
            if item is dcplan.Result:
                out += [_function(f"result.{x}", getattr(item, x), "### ") for x in METHODS]
        else:
            out.append(_function(name, item, ""))
    return "\n".join(out)


def _first(item: Any) -> str:
    """Return the first sentence of a docstring."""
    return _marked((inspect.getdoc(item) or "").partition("\n\n")[0].replace("\n", " "))


def _function(name: str, item: Any, heading: str) -> str:
    """Write one function: its call, its text and its sections as lists."""
    signature = inspect.signature(item)
    given = [p for p in signature.parameters.values() if p.name != "self"]
    short = [p.name for p in given if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    more = ["…"] if len(short) < len(given) else []
    title = f"{heading}`{name.removeprefix('result.')}`\n\n" if heading else ""
    call = f"```python\n{name if heading else f'dcplan.{name}'}({', '.join(short + more)})\n```\n"
    text, *sections = SECTION.split(inspect.getdoc(item) or "")
    out = [title + call, f"{_marked(text)}\n"]
    for kind, body in zip(sections[::2], sections[1::2], strict=True):
        if kind == "Examples":
            out.append(f"```pycon\n{body.strip()}\n```\n")
        else:
            out.append(f"**{kind}**\n\n" + "\n".join(_items(body)) + "\n")
    return "\n".join(out)


def _items(body: str) -> Iterator[str]:
    """Return the entries of a section as lines of a list."""
    entries: list[tuple[str, list[str]]] = []
    for line in body.strip().splitlines():
        if line[:1].strip():
            entries.append((line, []))
        elif entries:
            entries[-1][1].append(line.strip())
    for head, texts in entries:
        name, _, kind = head.partition(" : ")
        kind = f" (*{kind.replace('|', 'or')}*)" if kind else ""
        yield f"- `{name}`{kind}: {_marked(' '.join(texts))}".rstrip()


def _marked(text: str) -> str:
    """Return text with Markdown code instead of that of reStructuredText."""
    text = re.sub(r":(?:func|class|meth):`~?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`").strip()
