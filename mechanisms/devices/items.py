"""Plans item-wise maps of devices: some of a person's places, each blurred by itself, in one heap."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.devices.cells import CELL_BYTES, axes_encoding, axes_table
from mechanisms.devices.plan import Influence, Json, Kind, Messages, big_endian, check_messages, check_reports
from mechanisms.devices.several import several
from mechanisms.expected_error import ErrorForecast
from mechanisms.guarantee import Guarantee, Trust
from mechanisms.local.geo_local import GeoLocal
from mechanisms.metric.itemwise.forecast import forecast
from mechanisms.metric.itemwise.mechanism import EmdItemwise
from mechanisms.results.heatmap import Heatmap


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsPlan:
    """Plans `EmdItemwise` on devices: `samples` messages a report, each a cell.

    Guarantee: `guarantee_with_shuffler` of the mechanism for `persons` honest reports; more only add reports
    that are independent of any one person's.
    Edge cases: what is no cell is left out; without any cell the map is even.
    Error: `expected_error`, a forecast.
    """

    trust: ClassVar[Trust] = Trust.SHUFFLE
    kind: ClassVar[Kind] = "heatmap"
    message_bytes: ClassVar[int] = CELL_BYTES
    law: EmdItemwise
    most_reports: int

    def __post_init__(self) -> None:
        check_messages("samples", self.law.samples, self.messages)

    @property
    def name(self) -> str:
        return self.law.name

    @property
    def resolution(self) -> int:
        return self.law.resolution

    @property
    def encoding(self) -> dict[str, Json]:
        return {**axes_encoding("items", self._blur), "samples": self.law.samples}

    @property
    def table(self) -> bytes:
        return axes_table(self._blur)

    @property
    def messages(self) -> int:
        return self.law.samples

    @property
    def per_report(self) -> Guarantee:
        return self.law.guarantee_with_shuffler

    def guarantee(self, reports: int) -> Guarantee:
        return several(self.per_report, reports, diameter_m=self.law.region.diameter_m)

    def expected_error(self, reports: int) -> ErrorForecast:
        check_reports(reports, self.most_reports)
        return forecast(reports * self.law.samples, self.law.noise_cap)

    def analyse(self, messages: Messages, reports: int) -> Heatmap:
        check_reports(reports, self.most_reports)
        cells = big_endian(messages)
        counted = np.bincount(cells[cells < self.resolution**2], minlength=self.resolution**2)
        return self.law.map_behind(counted.reshape(self.resolution, self.resolution), persons=reports)

    def influence(self, dishonest: int, reports: int) -> Influence:
        check_reports(reports, self.most_reports)
        return Influence(
            number=min(1.0, dishonest / reports),
            unit="share",
            sentence="At most this share of all reported squares is made up; the map that is likeliest "
            "behind them may change by more.",
        )

    @property
    def _blur(self) -> GeoLocal:
        return self.law.blur
