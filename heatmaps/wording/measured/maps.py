"""What was measured of maps: by persons and ε, by resolution, by how persons are spread."""

from typing import Final

from heatmaps.wording.measured.pictures import (
    EMD,
    SIDE_KM,
    Numbers,
    Picture,
    Section,
    digits,
    flowing,
    lines,
    mechanism_title,
    metres,
    rows_of,
    sources,
    value,
)
from mechanisms.experiments.measured import Row

BOTH: Final = (True, True)
_CHOICE: Final = "heatmap-choice"
_FAR: Final = 0.1  # part of the side: a map that is off by more says little
_USUAL: Final = "adaptive"
_ONE_GRID: Final = "laplace"


def which() -> Section:
    rows = rows_of(_CHOICE)
    counts = list(dict.fromkeys(row["persons"] for row in rows))
    return Section(
        anchor="which",
        title="Which mechanism makes the nearest map",
        sentences=(_what_an_error_is(), _winners(rows), *_advice(rows), _too_little(rows)),
        pictures=tuple(
            Picture(
                title=f"{int(count):,} persons",
                x="ε",
                y=EMD,
                lines=lines(rows_of(_CHOICE, persons=count), by="mechanism", x="epsilon", y="emd"),
                logarithmic=BOTH,
            )
            for count in counts
        ),
        sources=sources(_CHOICE),
        choices=_choices(rows, counts),
    )


def persons() -> Section:
    few, many = "50", "500"
    said = [
        flowing(f"""At ε = {epsilon}, {many} persons instead of {few} changed the error of
        {mechanism_title(_USUAL)} from {digits(at[few])} to {digits(at[many])}.""")
        for epsilon, name in (("1", "heatmap-figure-6"), ("10", "heatmap-figure-4"))
        for at in [_by_x(name, _USUAL)]
    ]
    return Section(
        anchor="persons",
        title="More persons",
        sentences=(*said, _products(rows_of(_CHOICE))),
        pictures=(
            _by_mechanism("heatmap-figure-6", "ε = 1, one place", "persons"),
            _by_mechanism("heatmap-figure-4", "ε = 10, one place", "persons"),
        ),
        sources=sources("heatmap-figure-6", "heatmap-figure-4", _CHOICE),
    )


def resolution() -> Section:
    def changed(mechanism: str) -> str:
        at = _by_x("heatmap-figure-7", mechanism)
        return f"{mechanism_title(mechanism)} had {digits(at['64'])}, and {digits(at['256'])}"

    return Section(
        anchor="resolution",
        title="A finer grid",
        sentences=(
            flowing(f"""With 64 squares a side, and with 256, at ε = 1: {changed(_USUAL)};
            {changed("sparse-emd")}; {changed(_ONE_GRID)}."""),
            flowing("""The first two decide by themselves how fine they measure, so that you may choose
            the resolution that you want to look at. The last one has noise in every square, and the more
            of it the more squares there are."""),
        ),
        pictures=(
            _by_mechanism("heatmap-figure-7", "ε = 1, one place", "squares a side", logarithmic=BOTH),
            _by_mechanism("heatmap-figure-5", "ε = 10, one place", "squares a side", logarithmic=BOTH),
        ),
        sources=sources("heatmap-figure-7", "heatmap-figure-5"),
    )


def in_the_paper() -> Section:
    usual, sparse = (_by_x("heatmap-figure-1", name) for name in (_USUAL, "sparse-emd"))
    ratios = [usual[epsilon] / sparse[epsilon] for epsilon in usual]
    return Section(
        anchor="places",
        title="The paper’s comparison, with 200 persons in many places",
        sentences=(
            flowing(f"""{mechanism_title(_USUAL)} had {digits(min(ratios))} to {digits(max(ratios))}
            times the error of {mechanism_title("sparse-emd")}, the algorithm of the paper that proposed
            the comparison."""),
            flowing(f"""At ε = 1 the two had {digits(usual["1"])} and {digits(sparse["1"])}: in a region
            of {SIDE_KM} km, {metres(usual["1"])} and {metres(sparse["1"])}."""),
        ),
        pictures=(_by_mechanism("heatmap-figure-1", "200 persons", "ε", logarithmic=BOTH),),
        sources=sources("heatmap-figure-1"),
    )


def spread() -> Section:
    sparse = _by_x("heatmap-figure-11", "sparse-emd")
    usual = _by_x("heatmap-figure-11", _USUAL)
    first, last = min(usual, key=float), max(usual, key=float)
    slopes = {row["mechanism"]: float(row["slope"]) for row in rows_of("heatmap-slopes")}
    falls = " and ".join(
        f"{digits(4 ** slopes[name])} ({mechanism_title(name)})" for name in ("dense-emd", "sparse-emd")
    )
    return Section(
        anchor="spread",
        title="Persons in few places, or everywhere",
        sentences=(
            flowing(f"""Synthetic persons who fill {_percent(first)} to {_percent(last)} of the squares,
            around more and more places: the error went from {digits(sparse[first])} to
            {digits(sparse[last])} with {mechanism_title("sparse-emd")}, and from {digits(usual[first])}
            to {digits(usual[last])} with {mechanism_title(_USUAL)}."""),
            flowing(f"""Four times as many persons, or four times the ε, cut the error to {falls} of what
            it was. The former was measured with persons spread evenly everywhere, the latter with
            persons in few squares."""),
        ),
        pictures=(
            _by_mechanism("heatmap-figure-11", "5 to 80 places, 200 persons, ε = 1", "share of squares"),
            _by_mechanism("heatmap-figure-10", "20 places, 200 persons, ε = 1", "share of squares"),
            Picture(
                title="Ever more persons, ε = 1",
                x="ε times persons",
                y=EMD,
                lines=lines(rows_of("heatmap-slopes"), by="mechanism", x="epsilon_n", y="emd"),
                logarithmic=BOTH,
            ),
        ),
        sources=sources("heatmap-figure-11", "heatmap-figure-10", "heatmap-slopes"),
    )


def _by_mechanism(
    name: str, title: str, x: str, *, logarithmic: tuple[bool, bool] = (False, True)
) -> Picture:
    found = lines(rows_of(name), by="mechanism", x="x", y="emd")
    return Picture(title=title, x=x, y=EMD, lines=found, logarithmic=logarithmic)


def _by_x(name: str, mechanism: str) -> dict[str, float]:
    return {f"{float(row['x']):g}": float(row["emd"]) for row in rows_of(name, mechanism=mechanism)}


def _percent(share: str) -> str:
    return f"{digits(100 * float(share))} %"


def _what_an_error_is() -> str:
    return flowing(f"""An error of 0.05 says that the map’s mass would have to be moved by 5 % of the region’s
    side, on average, to become the true map: {metres(0.05)} in a region {SIDE_KM} km wide. Smaller is
    better. Maps were smoothed a little before they were compared.""")


def _nearest(rows: tuple[Row, ...]) -> dict[tuple[str, str], Row]:
    """By persons and ε."""
    found: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda one: float(one["emd"])):
        found.setdefault((row["persons"], row["epsilon"]), row)
    return found


def _winners(rows: tuple[Row, ...]) -> str:
    nearest = [row["mechanism"] for row in _nearest(rows).values()]
    wins = sorted(set(nearest), key=nearest.count, reverse=True)
    parts = [f"{mechanism_title(name)} in {nearest.count(name)}" for name in wins]
    return (
        f"Of {len(nearest)} settings of persons and ε the nearest map was made by "
        + ", by ".join(parts)
        + "."
    )


def _advice(rows: tuple[Row, ...]) -> tuple[str, ...]:
    """From which persons times ε on the usual mechanism was always the nearest, and how far off before."""
    nearest, title = _nearest(rows), mechanism_title(_USUAL)
    worst = max(
        value(rows, "emd", persons=count, epsilon=epsilon, mechanism=_USUAL) / float(row["emd"])
        for (count, epsilon), row in nearest.items()
    )
    lost = [key for key, row in nearest.items() if row["mechanism"] != _USUAL]
    limit = max((int(count) * float(epsilon) for count, epsilon in lost), default=0.0)
    above = f"where the number of persons times ε is more than {limit:g}"
    return (
        f"Take {title} {above}: there it was always the nearest."
        if lost
        else f"Take {title}: always the nearest.",
        flowing(f"""It never had more than {digits(worst)} times the error of the nearest one. It was
        told the right number of persons; a wrong guess costs accuracy, never privacy."""),
    )


def _too_little(rows: tuple[Row, ...]) -> str:
    far = [key for key, row in _nearest(rows).items() if float(row["emd"]) > _FAR]
    if not far:
        return f"In every setting some map was nearer than {_FAR:g}."
    far.sort(key=lambda key: (int(key[0]), float(key[1])))
    listed = ", ".join(f"{int(count):,} persons at ε = {epsilon}" for count, epsilon in far)
    return flowing(f"""No map was nearer than {_FAR:g} ({metres(_FAR)} of {SIDE_KM} km) with {listed}: with so
    little, wait for more persons or save budget for one release with a larger ε.""")


def _choices(rows: tuple[Row, ...], counts: list[str]) -> Numbers:
    nearest = _nearest(rows)
    epsilons = sorted({epsilon for _, epsilon in nearest}, key=float)
    return Numbers(
        title="Nearest map by persons and ε, with its error",
        heads=("ε", *(f"{int(count):,} persons" for count in counts)),
        rows=tuple(
            (epsilon, *(_choice(nearest[count, epsilon]) for count in counts)) for epsilon in epsilons
        ),
    )


def _choice(row: Row) -> str:
    return f"{mechanism_title(row['mechanism'])}: {digits(float(row['emd']))}"


def _products(rows: tuple[Row, ...]) -> str:
    """Settings in which persons · ε is the same."""
    usual = [row for row in rows if row["mechanism"] == _USUAL]
    same = [row for row in usual if round(int(row["persons"]) * float(row["epsilon"]), 6) == 100]
    listed = ", ".join(
        f"{digits(float(row['emd']))} with {int(row['persons']):,} persons at ε = {row['epsilon']}"
        for row in same
    )
    return flowing(f"""What counts is the number of persons times ε: twice the persons allow half the ε for
    about the same map. Where the product is 100, {mechanism_title(_USUAL)} had {listed}.""")
