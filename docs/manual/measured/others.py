"""Words measured accuracy of centres, shuffled rounds, central points and reports."""

import math
from collections.abc import Iterable

from docs.manual.measured.maps import BOTH
from docs.manual.measured.pictures import (
    Picture,
    Section,
    columns,
    digits,
    flowing,
    mechanism_title,
    rows_of,
    sources,
    value,
)
from heatmaps.numbers import number
from mechanisms.reproduction.measurements import Row


def centres() -> Section:
    name, count = "k-median-costs", "8"
    rows = rows_of(name)
    little, much = (
        (epsilon, number(value(rows, "ratio", k=count, epsilon=epsilon))) for epsilon in ("1", "10")
    )
    return Section(
        anchor="centres",
        title=mechanism_title("k-median"),
        sentences=(
            flowing(f"""How far people are from the nearest of {count} released centres, beside centres
            that a solver finds who sees the people themselves: {little[1]} times as far at ε =
            {little[0]}, {much[1]} times at ε = {much[0]}."""),
            flowing("""Ask for few centres where ε is small: each of many has few people, and more noise
            than people."""),
        ),
        pictures=(
            Picture(
                title="500 people",
                x="ε",
                y="distance, times that without privacy",
                lines={
                    f"{own['k']} centres": tuple(
                        (float(row["epsilon"]), float(row["ratio"])) for row in rows_of(name, k=own["k"])
                    )
                    for own in {row["k"]: row for row in rows}.values()
                },
                logarithmic=(True, False),
            ),
        ),
        sources=sources(name),
    )


def shuffled() -> Section:
    utility, traffic = "heatmap-figure-13", "heatmap-figure-12"
    rows, bits = rows_of(utility), rows_of(traffic)
    central, usual = (_row(rows, parts) for parts in ("central", "256"))
    rounds = [row for row in rows if row["B"] != "central"]
    return Section(
        anchor="shuffled",
        title="Maps without trust in the server: shuffled shares",
        sentences=(
            flowing(f"""With 50 people at ε = 5, each divided into 256 parts, the map of the shuffled
            round had an error of {_give_or_take(usual)}; that of a trusted server
            {_give_or_take(central)}. {_difference_sentence(usual, central)}"""),
            flowing(f"""The price of not having to trust the server is a δ, and what is sent:
            {digits(value(bits, "megabytes", B="256"))} megabytes from each device. Fewer parts send
            little less."""),
        ),
        pictures=(
            Picture(
                title="50 people, ε = 5",
                x="parts of a person",
                y="error, part of the region’s side",
                lines={
                    "shuffled round": tuple((float(row["B"]), float(row["emd"])) for row in rounds),
                    "trusted server": tuple((float(row["B"]), float(central["emd"])) for row in rounds),
                },
                logarithmic=(True, False),
            ),
            Picture(
                title="What a device sends",
                x="parts of a person",
                y="megabytes",
                lines=columns(bits, {"megabytes": "ours", "printed_megabytes": "the paper’s formula"}, x="B"),
                logarithmic=(True, False),
            ),
        ),
        sources=sources(utility, traffic),
    )


def _row(rows: Iterable[Row], parts: str) -> Row:
    (match,) = (row for row in rows if row["B"] == parts)
    return match


def _give_or_take(row: Row) -> str:
    return f"{digits(float(row['emd']))} (give or take {digits(2 * float(row['emd_se']))})"


def _difference_sentence(first: Row, second: Row) -> str:
    """Says whether two errors differ by more than twice the standard error of their difference."""
    difference = abs(float(first["emd"]) - float(second["emd"]))
    if difference < 2 * math.hypot(float(first["emd_se"]), float(second["emd_se"])):
        return f"{first['trials']} trials cannot tell them apart."
    return f"That is {digits(float(first['emd']) / float(second['emd']))} times as much."


def points() -> Section:
    name, part = "metric-linear", "16"
    rows = rows_of(name, query="location")
    near, whole, local = (
        value(rows, column, part=part) for column in ("k_norm", "user_level", "k_norm_local")
    )
    titles = {
        "user_level": "every change of a record alike",
        "k_norm": "moves within the radius",
        "gaussian": "the same, with a δ",
        "k_norm_local": "moves, nobody trusted",
    }
    return Section(
        anchor="points",
        title="Central points: what a radius buys",
        sentences=(
            flowing(f"""Where ε is promised for moves within a {part}th of the region’s diameter, not for
            every change of a record, the error of {mechanism_title("emd-linear")} was
            {digits(whole / near)} times smaller. In return, another whole record may cost up to {part}
            times ε: the quote says both."""),
            flowing(f"""If nobody is trusted and each device adds the noise itself, the error is
            {digits(local / near)} times as large."""),
        ),
        pictures=(
            Picture(
                title="Mean location, ε = 1",
                x="diameter over radius",
                y="error, part of the diameter",
                lines=columns(rows, titles, x="part"),
                logarithmic=BOTH,
            ),
        ),
        sources=sources(name),
    )


def reports() -> Section:
    name = "metric-frequency"
    rows = rows_of(name)
    better = [row["alpha"] for row in rows if float(row["gkrr"]) < float(row["hadamard"])]
    titles = {
        "gkrr": "reports that keep districts apart",
        "hadamard": "Hadamard response, every change alike",
        "laplace": "trusted server",
    }
    times = digits(float(rows[0]["gkrr"]) / float(rows[0]["laplace"]))
    first = f"from α = {digits(float(better[0]))} on" if better else "nowhere in what was measured"
    return Section(
        anchor="reports",
        title="Squares that devices report themselves",
        sentences=(
            flowing(f"""Reports that hide squares of a district among each other more than districts have
            the smaller error {first}, where α is the loss when a whole record moves by one district."""),
            flowing(f"""A trusted server that adds noise to the shares is {times} times nearer than
            reports at α = {rows[0]["alpha"]}: let devices report only where no server may be trusted."""),
        ),
        pictures=(
            Picture(
                title="20,000 people with 100 check-ins each",
                x="α",
                y="error, in districts",
                lines=columns(rows, titles, x="alpha"),
                logarithmic=BOTH,
            ),
        ),
        sources=sources(name),
    )
