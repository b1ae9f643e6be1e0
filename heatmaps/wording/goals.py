"""Words protection goals of a release and what they cost."""

from collections.abc import Sequence
from fractions import Fraction

from heatmaps.numbers import amount, amount_left
from heatmaps.wording.guarantee import decimal, priced
from heatmaps.wording.protection import part, reach_length
from heatmaps.wording.record_distance import as_read
from mechanisms.guarantee import Guarantee
from mechanisms.metric.protection_planner import Wish, spent


def wish_sentence(wish: Wish) -> str:
    """Repeats a wish as it was understood."""
    return (
        f"Moving {part(wish.part)} by {reach_length(wish.distance_m)} on average is an earth mover's "
        f"distance of {reach_length(wish.moved_m)} and may cost ε = {decimal(wish.epsilon)}."
    )


def plan_sentences(alpha_per_m: Fraction, wishes: Sequence[Wish]) -> tuple[str, ...]:
    """Says what α grants of wishes, one sentence each: α is rounded down, what is spent up."""
    per_km = amount_left(alpha_per_m * 1000)
    losses = [alpha_per_m * wish.moved_m for wish in wishes]
    return (
        f"The loss may grow by ε = {per_km} a kilometre of earth mover's distance.",
        *(
            f"Moving {part(wish.part)} by up to {reach_length(wish.distance_m)} then costs at most "
            f"ε = {amount(loss)}."
            for wish, loss in zip(wishes, losses, strict=True)
        ),
        as_read(Fraction(0)),
    )


def granted(guarantee: Guarantee, wishes: Sequence[Wish], *, diameter_m: float) -> tuple[str, ...]:
    """Says what a release costs for each wish, one sentence each."""
    losses = [spent(guarantee, wish, diameter_m=diameter_m) for wish in wishes]
    costs = [priced(loss, guarantee.delta) for loss in losses]
    return tuple(
        f"Moving {part(wish.part)} by up to {reach_length(wish.distance_m)} costs {cost}; "
        f"at most ε = {decimal(wish.epsilon)} was allowed."
        for wish, cost in zip(wishes, costs, strict=True)
    )
