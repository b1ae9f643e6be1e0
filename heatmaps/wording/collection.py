"""Words what is special about results that came from people's devices."""

from typing import Final

from heatmaps.collections.round_draws import RoundDraw
from heatmaps.models import Collection, Release, Round
from heatmaps.numbers import UP, count, error_length, number
from heatmaps.result_kinds.entries import entry_of
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee, Trust

TWO_OPERATORS: Final = (
    "It holds as long as {shuffler}, who runs the shuffler, and {analyser}, who runs this server, do not "
    "work together, and the shuffler passes on what devices sent, no more and no less."
)
HONEST_PAGE: Final = "It is local, if the page that was served to people is honest."
HONEST_DEVICES: Final = (
    "It counts on at least {least} honest reports, as declared before the first one; nobody can check that."
)
OPEN_LINK: Final = (
    "Anybody could send by an open link, also who reads the result: the promise is for each report by "
    "itself, not for all that one person sent, and counts on no shuffler."
)


def influence_words(draw: RoundDraw) -> str:
    """Says how far the dishonest reports that a round allows for can move its result."""
    reports = draw.least_reports - draw.least_honest
    influence = draw.device.influence(reports, draw.least_reports)
    who = f"{count(reports)} dishonest report{'' if reports == 1 else 's'} of {count(draw.least_reports)}"
    if not reports:
        return "No dishonest report is allowed for."
    if not influence.is_bounded:
        return f"{who} can move the result without any bound. {influence.sentence}"
    how_far = {
        "metres": lambda: error_length(influence.number),
        "people": lambda: f"{number(influence.number, rounding=UP)} people",
        "share": lambda: f"{number(100 * influence.number, rounding=UP)} % of all",
    }[influence.unit]()
    return f"{who} can move the result by at most {how_far}. {influence.sentence}"


def title_of(release: Release) -> str:
    """Returns the title of what drew it, on stored check-ins or on devices; its name where that is gone."""
    try:
        return entry_of(release).title
    except ParameterError:
        return release.mechanism


def sentences(release: Release) -> tuple[str, ...]:
    """Returns the sentences beside the promise of a round."""
    guarantee = Guarantee.from_json(release.guarantee)
    return for_round(release.dataset.collection, guarantee, release.round.least_honest)


def for_round(collection: Collection, guarantee: Guarantee, least_honest: int) -> tuple[str, ...]:
    texts = [HONEST_PAGE]
    if guarantee.trust is Trust.SHUFFLE:
        texts = [
            TWO_OPERATORS.format(
                shuffler=collection.shuffler_operator, analyser=collection.analyser_operator
            ),
            HONEST_DEVICES.format(least=count(least_honest)),
            HONEST_PAGE.replace("local", "so"),
        ]
    return (*texts, *((OPEN_LINK,) if collection.open_link else ()))


def sheet_facts(release: Release) -> dict[str, object]:
    """Returns a round's facts for the release sheet."""
    collection = release.dataset.collection
    row: Round = release.round
    return {
        "question": collection.question,
        "analyser_operator": collection.analyser_operator,
        "shuffler_operator": collection.shuffler_operator,
        "open_link": collection.open_link,
        "round": row.number,
        "opens_at": row.opens_at.isoformat(),
        "closes_at": row.closes_at.isoformat(),
        "reports_per_person": row.reports_per_person,
        "invitations": row.invitations,
        "reports": row.reports,
        "least_honest": row.least_honest,
        "dishonest_share": str(row.dishonest_share),
        "facts_sha256": row.facts_sha256,
        "page_sha384": row.page_sha384,
    }
