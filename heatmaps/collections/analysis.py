"""Makes the result of a round from its messages; draws nothing, so that it may be done again."""

from typing import Final

from heatmaps import spool
from heatmaps.collections import facts, handover, round_draws, round_keys
from heatmaps.collections.unsealing import opened
from heatmaps.models import Release
from mechanisms.results.serialization import Result


class TooFew(Exception):  # noqa: N818 - reads as what it says
    """Says that fewer reports came in than the round declared: nothing is published."""


class PromiseChanged(Exception):  # noqa: N818 - reads as what it says
    """Says that today's program would not keep the promise that was charged for."""


FINAL: Final = (TooFew, PromiseChanged)


def is_final(cause: type[Exception]) -> bool:
    """Tells whether the round would fail again, whichever machine reads it."""
    return cause in FINAL


def result_of(release: Release) -> Result:
    """Returns the result of a round; its rows are not read again.

    Errors: TooFew; PromiseChanged; `KeyMissing`; OSError.
    """
    collection_round = release.round
    draw = round_draws.draw_of(collection_round)
    if not (round_draws.keeps_promise(release, draw) and facts.are_of(collection_round, draw)):
        raise PromiseChanged
    if collection_round.reports is None or collection_round.reports < draw.least_reports:
        raise TooFew
    with spool.opened(handover.batch_path(release.pk)) as file:
        batch = file.read()
    messages = opened(
        batch,
        round_keys.load(release.pk),
        facts_sha256=bytes.fromhex(collection_round.facts_sha256),
        message_bytes=draw.device.message_bytes,
    )
    return draw.device.analyse(messages, collection_round.reports)
