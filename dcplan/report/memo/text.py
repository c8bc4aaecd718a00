"""A memo as Markdown, which converters such as pandoc read, and as one HTML page."""

from __future__ import annotations

import re
from html import escape

from dcplan.report.memo.blocks import Block, Grid, Items
from dcplan.report.memo.content import Memo
from dcplan.report.text.markdown import escaped, table_text
from dcplan.report.text.numbers import printable
from dcplan.report.text.view import View

PAIR = 2
"""Columns of a table of figures, which is printed in two halves."""
CODE = re.compile(r"`([^`]+)`")
STYLE = (
    "body{margin:0 auto;max-width:48rem;padding:1rem;font:14px/1.4 system-ui,sans-serif;color:#1a1d21;"
    "background:#fff}h1{font-size:1.3rem;margin:.2rem 0}h2{font-size:1rem;margin:.8rem 0 .2rem;"
    "border-bottom:1px solid #d5dae1}p,ul{margin:.3rem 0}.lead{font-weight:600}"
    "table{border-collapse:collapse;font-size:.85rem;width:100%}th,td{padding:.1rem .4rem;"
    "border-bottom:1px solid #d5dae1;text-align:left;vertical-align:top}.n{text-align:right;"
    "white-space:nowrap}code{background:#f3f5f8;overflow-wrap:anywhere}"
    "@page{margin:10mm}@media print{body{max-width:none;padding:0;font-size:10.5px;line-height:1.25}"
    "h1{font-size:14px}h2{font-size:12px;margin:5px 0 1px;break-after:avoid}p,ul{margin:2px 0}"
    "ul{padding-left:14px}table{font-size:10px}th,td{padding:0 4px}tr,li{break-inside:avoid}"
    ".pairs{columns:2;column-gap:24px}}"
)
"""Of the paper that the printer has: the memo fits on one page of A4 and of Letter."""


def memo_markdown(memo: Memo) -> str:
    """Return the memo as Markdown: headings, pipe tables, lists and paragraphs alone."""
    parts = [f"# {escaped(memo.title)}\n", f"**{escaped(memo.decision)}**\n"]
    for title, blocks in memo.parts:
        parts.append(f"## {escaped(title)}\n")
        parts += [_markdown(block) for block in blocks]
    return "\n".join(parts)


def _markdown(block: Block) -> str:
    if isinstance(block, Grid):
        return table_text(View(block.headers, block.rows, block.numeric))
    if isinstance(block, Items):
        return "".join(f"- {_marked_code(line)}\n" for line in block.lines)
    return f"{_marked_code(block.text)}\n"


def _marked_code(text: str) -> str:
    """Escape a sentence for Markdown, except its commands.

    Examples
    --------
    >>> _marked_code("1 * 2: run `dcplan plan a_b.yaml`.") == "1 " + chr(92) + "* 2: run `dcplan plan a_b.yaml`."
    True
    """
    pieces = CODE.split(printable(text))
    return "".join(f"`{x}`" if i % 2 else escaped(x) for i, x in enumerate(pieces))


def memo_html(memo: Memo) -> str:
    """Return the memo as HTML that loads no other file and prints on one page."""
    body = [f"<h1>{_plain(memo.title)}</h1>", f'<p class="lead">{_plain(memo.decision)}</p>']
    for title, blocks in memo.parts:
        body.append(f"<h2>{_plain(title)}</h2>")
        body += [_html(block) for block in blocks]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_plain(memo.title)}</title>\n<style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _plain(text: str) -> str:
    return escape(printable(text))


def with_code(text: str) -> str:
    """Return a sentence as escaped HTML, with its commands as code.

    Examples
    --------
    >>> with_code("a < b: run `dcplan check x`")
    'a &lt; b: run <code>dcplan check x</code>'
    """
    return CODE.sub(r"<code>\1</code>", _plain(text))


def _html(block: Block) -> str:
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li>{with_code(x)}</li>" for x in block.lines) + "</ul>"
    if not isinstance(block, Grid):
        return f"<p>{with_code(block.text)}</p>"
    kinds = [' class="n"' if right else "" for right in block.numeric]

    def row(tag: str, cells: tuple[str, ...]) -> str:
        pairs = zip(kinds, cells, strict=True)
        return "<tr>" + "".join(f"<{tag}{k}>{_plain(x)}</{tag}>" for k, x in pairs) + "</tr>"

    rows = "\n".join(row("td", cells) for cells in block.rows)
    table = f"<table>\n{row('th', block.headers)}\n{rows}\n</table>"
    return f'<div class="pairs">{table}</div>' if len(block.headers) == PAIR else table
