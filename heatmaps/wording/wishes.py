"""What a release costs for what people wished of it, in plain sentences."""

from collections.abc import Sequence

from heatmaps.wording.guarantee import decimal
from heatmaps.wording.plan import length, part
from mechanisms.guarantee import Guarantee
from mechanisms.metric.planner import Wish, spent


def granted(guarantee: Guarantee, wishes: Sequence[Wish], *, diameter_m: float) -> tuple[str, ...]:
    """What a release costs for what was wished, one sentence each."""
    losses = [spent(guarantee, wish, diameter_m=diameter_m) for wish in wishes]
    return tuple(
        f"Moving {part(wish.part)} by up to {length(wish.distance_m)} costs ε = {decimal(loss, digits=6)}; "
        f"at most {decimal(wish.epsilon)} was allowed."
        for wish, loss in zip(wishes, losses, strict=True)
    )
