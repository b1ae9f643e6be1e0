"""Builds what notebooks show. Every text of an answer is escaped: titles are written by people."""

import base64
from collections.abc import Iterable, Sequence
from html import escape


def table(rows: Iterable[Sequence[object]], *, heads: Sequence[str] = (), caption: str = "") -> str:
    """Returns a table whose rows begin with their names."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    first = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    head = f"<thead><tr>{first}</tr></thead>" if heads else ""
    return f"<table>{title}{head}<tbody>{''.join(map(_row, rows))}</tbody></table>"


def paragraphs(sentences: Iterable[str]) -> str:
    """Returns a paragraph for each sentence that is not empty."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)


def picture(png: bytes, *, alt: str) -> str:
    """Returns a PNG picture inside of the page."""
    data = base64.b64encode(png).decode()
    return f'<img alt="{escape(alt)}" width="900" src="data:image/png;base64,{data}">'


def text(value: object) -> str:
    """Returns a value as people read it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(text, value)) if isinstance(value, tuple) else str(value)


def bound(amount: object) -> str:
    """Words an amount that is asked for, which may be without bound."""
    return "no bound" if amount is None else str(amount)


def limit(amount: object) -> str:
    """Words an amount that is there, which may be without limit."""
    return "no limit" if amount is None else str(amount)


def _row(cells: Sequence[object]) -> str:
    name, *values = (escape(text(cell)) for cell in cells)
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in values)}</tr>'
