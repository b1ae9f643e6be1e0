"""Holds what a plan of a round is made from."""

from dataclasses import dataclass
from typing import Any

from mechanisms.mechanism import Target
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFacts:
    """Holds facts of a round that are public before it."""

    region: Region
    target: Target  # of one report
    least_honest: int
    most_reports: int
    resolution: int  # 0 for points

    @property
    def of_map(self) -> dict[str, Any]:
        return {"region": self.region, "resolution": self.resolution, "most_reports": self.most_reports}
