"""Builds what notebooks show. Every text of an answer is escaped: titles are written by people."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> str:
    """A table with a line of headings."""
    first = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(shown(cell))}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"


def card(title: str, facts: Mapping[str, object]) -> str:
    """A table of facts under a title."""
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(shown(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{lines}</tbody></table>"


def paragraphs(sentences: Iterable[str]) -> str:
    """A paragraph for each sentence that is not empty."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)


def picture(png: bytes, *, alt: str) -> str:
    """A PNG picture inside of the page."""
    data = base64.b64encode(png).decode()
    return f'<img alt="{escape(alt)}" width="900" src="data:image/png;base64,{data}">'


def shown(value: object) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return ", ".join(map(shown, value)) or "–"
    return str(value)


def bound(amount: object) -> str:
    """An amount that may be without bound."""
    return "no bound" if amount is None else str(amount)
