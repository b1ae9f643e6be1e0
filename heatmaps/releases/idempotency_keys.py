"""Recognises requests that are sent again: by their `Idempotency-Key` and what they asked."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final, Self

from django.contrib.auth.models import User

from heatmaps.models import Dataset, Release, RequestKey
from heatmaps.releases.question import data_slice_of
from heatmaps.releases.request import Plan, ReleaseRequest
from mechanisms.check import ParameterError

LONGEST_KEY: Final = 120  # characters
# What a key was used for is stored as a hash of these fields: they stay, so that keys of before are known.
_HASHED: Final = (
    "mechanism",
    "epsilon",
    "delta",
    "resolution",
    "parameters",
    "since",
    "until",
    "rectangle",
    "guide",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKey:
    """Holds an `Idempotency-Key`, and the body that it came with."""

    text: str | None
    body_sha256: str  # another spelling of the same question has another one

    @classmethod
    def of(cls, text: str | None, dataset: Dataset, request: ReleaseRequest) -> Self:
        """Reads a key and hashes its request. Errors: `ParameterError` for what no header carries."""
        if text is not None and not (1 <= len(text) <= LONGEST_KEY and text.isascii() and text.isprintable()):
            raise ParameterError("Idempotency-Key", text, f"1 to {LONGEST_KEY} printable ASCII characters")
        values = asdict(request)
        body = {"dataset": dataset.pk} | {name: values[name] for name in _HASHED}
        digest = hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
        return cls(text=text, body_sha256=digest)


def earlier_use(requester: User, key: str | None) -> RequestKey | None:
    """Returns what a person's key was used for before, with its release; None without a key or a use."""
    if key is None:
        return None
    return RequestKey.objects.filter(requested_by=requester, key=key).select_related("release").first()


def asks_the_same(release: Release, dataset: Dataset, plan: Plan) -> bool:
    """Tells whether a release has the same body; the data version may have moved on since."""
    costs, stored_costs = (plan.terms.epsilon, plan.terms.delta), (release.epsilon, release.delta)
    question = (dataset.pk, plan.draw.name, costs, plan.draw.resolution)
    stored = (release.dataset_id, release.mechanism, stored_costs, release.resolution)
    same_slice = data_slice_of(release) == plan.data_slice
    guide = None if plan.guide is None else plan.guide.id
    same_guide = guide == (release.guide_release_id or release.guide_file_id)
    same = question == stored and same_slice and same_guide
    return same and release.parameters == plan.draw.parameters
