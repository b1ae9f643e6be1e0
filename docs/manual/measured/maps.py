"""Words measured accuracy of maps: by persons and ε, by resolution, by spread."""

from typing import Final

from docs.manual.measured.pictures import (
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
from heatmaps import numbers
from mechanisms.reproduction.measurements import Row

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
        title="Which method makes the nearest map",
        sentences=(_what_an_error_is(), *_advice(rows), _too_little(rows)),
        pictures=tuple(
            Picture(
                title=f"{numbers.count(int(count))} people",
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
    texts = [
        flowing(f"""At ε = {epsilon}, {many} people instead of {few} changed the error of
        {mechanism_title(_USUAL)} from {digits(at[few])} to {digits(at[many])}.""")
        for epsilon, name in (("1", "heatmap-figure-6"), ("10", "heatmap-figure-4"))
        for at in [_by_x(name, _USUAL)]
    ]
    return Section(
        anchor="persons",
        title="More people",
        sentences=(*texts, _products(rows_of(_CHOICE))),
        pictures=(
            _by_mechanism("heatmap-figure-6", "ε = 1, one place", "people"),
            _by_mechanism("heatmap-figure-4", "ε = 10, one place", "people"),
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
            flowing("""The first two choose by themselves how fine they measure, so pick any resolution. The
            last one adds noise to every square: more squares, more noise."""),
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
        title="The paper’s comparison, with 200 people in many places",
        sentences=(
            flowing(f"""{mechanism_title(_USUAL)} had {digits(min(ratios))} to {digits(max(ratios))}
            times the error of {mechanism_title("sparse-emd")}, the algorithm of the paper that proposed
            the comparison."""),
            flowing(f"""At ε = 1 the two had {digits(usual["1"])} and {digits(sparse["1"])}: in a region
            of {SIDE_KM} km, {metres(usual["1"])} and {metres(sparse["1"])}."""),
            flowing(f"""{mechanism_title("sparse-emd")} has become better since: measured again with
            200 people, its error is 3 to 14 % smaller at ε = 0.5 to 5."""),
        ),
        pictures=(_by_mechanism("heatmap-figure-1", "200 people", "ε", logarithmic=BOTH),),
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
        title="People in few places, or everywhere",
        sentences=(
            flowing(f"""Synthetic people who fill {_percent(first)} to {_percent(last)} of the squares,
            around more and more places: the error went from {digits(sparse[first])} to
            {digits(sparse[last])} with {mechanism_title("sparse-emd")}, and from {digits(usual[first])}
            to {digits(usual[last])} with {mechanism_title(_USUAL)}."""),
            flowing(f"""Four times as many people, or four times the ε, cut the error to {falls} of what
            it was. The former was measured with people spread evenly everywhere, the latter with
            people in few squares."""),
        ),
        pictures=(
            _by_mechanism("heatmap-figure-11", "5 to 80 places, 200 people, ε = 1", "share of squares"),
            _by_mechanism("heatmap-figure-10", "20 places, 200 people, ε = 1", "share of squares"),
            Picture(
                title="Ever more people, ε = 1",
                x="ε times people",
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
    series = lines(rows_of(name), by="mechanism", x="x", y="emd")
    return Picture(title=title, x=x, y=EMD, lines=series, logarithmic=logarithmic)


def _by_x(name: str, mechanism: str) -> dict[str, float]:
    return {f"{float(row['x']):g}": float(row["emd"]) for row in rows_of(name, mechanism=mechanism)}


def _percent(share: str) -> str:
    return f"{digits(100 * float(share))} %"


def _what_an_error_is() -> str:
    return flowing(f"""Smaller errors are better. An error of 0.05: people would have to move by 5 % of the
    region’s side, on average, to turn the map into the true one; {metres(0.05)} in a region {SIDE_KM} km
    wide. Maps were slightly smoothed first.""")


def _nearest(rows: tuple[Row, ...]) -> dict[tuple[str, str], Row]:
    """Returns the row of the least error by persons and ε."""
    nearest: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda candidate: float(candidate["emd"])):
        nearest.setdefault((row["persons"], row["epsilon"]), row)
    return nearest


def _advice(rows: tuple[Row, ...]) -> tuple[str, ...]:
    """Says from which persons times ε on the usual mechanism was always the nearest, and how far off
    before."""
    nearest, title = _nearest(rows), mechanism_title(_USUAL)
    worst = max(
        value(rows, "emd", persons=count, epsilon=epsilon, mechanism=_USUAL) / float(row["emd"])
        for (count, epsilon), row in nearest.items()
    )
    lost = [key for key, row in nearest.items() if row["mechanism"] != _USUAL]
    limit = max((int(count) * float(epsilon) for count, epsilon in lost), default=0.0)
    above = f"where the number of people times ε is more than {limit:g}"
    return (
        f"Take {title} {above}: there it was always the nearest."
        if lost
        else f"Take {title}: always the nearest.",
        flowing(f"""It never had more than {digits(worst)} times the error of the nearest one. It knew the
        right number of people; a wrong guess costs accuracy, never privacy."""),
    )


def _too_little(rows: tuple[Row, ...]) -> str:
    far = [key for key, row in _nearest(rows).items() if float(row["emd"]) > _FAR]
    if not far:
        return f"In every setting some map was nearer than {_FAR:g}."
    far.sort(key=lambda key: (int(key[0]), float(key[1])))
    listed = ", ".join(f"{numbers.count(int(count))} people at ε = {epsilon}" for count, epsilon in far)
    return flowing(f"""No map was nearer than {_FAR:g} ({metres(_FAR)} of {SIDE_KM} km) with {listed}: wait
    for more people, or save budget for one larger ε.""")


def _choices(rows: tuple[Row, ...], counts: list[str]) -> Numbers:
    nearest = _nearest(rows)
    epsilons = sorted({epsilon for _, epsilon in nearest}, key=float)
    return Numbers(
        title="Nearest map by people and ε, with its error",
        heads=("ε", *(f"{numbers.count(int(count))} people" for count in counts)),
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
        f"{digits(float(row['emd']))} with {numbers.count(int(row['persons']))} people "
        f"at ε = {row['epsilon']}"
        for row in same
    )
    return flowing(f"""People times ε counts: twice the people need half the ε for about the same map. Where
    the product is 100, {mechanism_title(_USUAL)} had {listed}.""")
