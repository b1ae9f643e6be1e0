"""Compares what is to be drawn with what its ledger says was paid for.

Rows may be changed by whoever may write them; events may not. So whoever draws believes the chain: one event
reserved this release, one spent it, none ended it, and the charge is what such a release costs.
"""

from typing import Final

from heatmaps.ledger import amounts, facts
from heatmaps.ledger.events import genesis
from heatmaps.ledger.replay import Disagreement, Replay, ReplayedRelease
from heatmaps.ledger.verification import check_accounts, check_head, check_round
from heatmaps.models import Charge, Event, Ledger, Release, ReleaseState
from heatmaps.regions import region_of
from heatmaps.releases.parameters import exact_epsilon
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee, Relation

_MOMENTS: Final = ("state", "starts_at", "visible_at", "late")  # the clock moves them until it is drawn


class Payment:
    """Reads what the events say of a release: those of before are read at once, without a lock."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._replay = Replay(previous_hash=genesis(release.dataset_id))
        self._problem = ""
        try:
            self._read_on()
        except Disagreement as disagreement:
            self._problem = disagreement.problem

    def problem(self, ledger: Ledger) -> str:
        """Returns in words, without data, what does not follow; empty: nothing. The caller holds the lock."""
        if self._problem:
            return self._problem
        self.release.refresh_from_db(fields=_MOMENTS)
        try:
            self._read_on()
            check_head(ledger, self._replay)
            check_accounts(ledger.dataset, self._replay)
            reserved = self._replay.releases.get(self.release.pk)
            if reserved is None:
                return "no event reserved it"
            return _problem(self.release, reserved, self._replay)
        except Disagreement as disagreement:
            return disagreement.problem

    def _read_on(self) -> None:
        """Replays the events since. Errors: Disagreement."""
        events = Event.objects.filter(dataset=self.release.dataset_id, sequence__gt=self._replay.sequence)
        for event in events.order_by("sequence").iterator():
            self._replay.apply(event)


def _problem(release: Release, reserved: ReplayedRelease, replay: Replay) -> str:
    """Returns a disagreement in words; empty: there is none. Errors: Disagreement."""
    release.dataset.origin.check_chain(release, replay)
    changed = facts.differences(release, reserved.facts)
    moments = reserved.moments or facts.moments(release)  # none: reserved before there were slots
    problems = {
        f"by its events it is {reserved.state}": reserved.state != ReleaseState.SPENT,
        "somebody else asked for it": release.requested_by_id != reserved.person,
        "its version is another dataset's": release.version.dataset_id != release.dataset_id,
        f"its {', '.join(changed)} were changed": bool(changed),
        "its dataset was changed": facts.dataset_facts(release.dataset) != replay.dataset,
        "its moments were changed": (moments, reserved.late) != (facts.moments(release), release.late),
        "its question is another one": release.dataset.origin.question(release) != release.question,
    }
    problem = next((text for text, holds in problems.items() if holds), "")
    return problem or _problem_of_price(release, reserved)


def check_round_of(release: Release, replay: Replay) -> None:
    """Compares a release's round with the event that fixed it. Errors: Disagreement."""
    check_round(release.round, replay)


def _problem_of_price(release: Release, reserved: ReplayedRelease) -> str:
    if not _is_within_limits(release):
        return "it is beyond this server's limits of ε and δ"
    price = amounts.charges(
        relation=Relation(release.dataset.relation),
        radius_m=release.dataset.radius_m,
        guarantee=Guarantee.from_json(release.guarantee),
        diameter_m=region_of(release.dataset).diameter_m,
    )
    if not all(_covers(reserved.charges[str(kind)], amount) for kind, amount in price.items()):
        return "its charge is less than it costs"
    rows = Charge.objects.filter(release=release.pk).values_list("account__kind", "amount")
    if {kind: facts.charge_fact(amount) for kind, amount in rows} != reserved.charges:
        return "its charges were changed"
    return ""


def _covers(charged: int | str, price: int | None) -> bool:
    """Tells whether a charge is at least the price; a charge without a bound is any price."""
    return charged == facts.NO_BOUND or (price is not None and int(charged) >= price)


def _is_within_limits(release: Release) -> bool:
    try:
        exact_epsilon(release.epsilon)
        release.dataset.origin.check_delta(release)
    except ParameterError:
        return False
    return True
