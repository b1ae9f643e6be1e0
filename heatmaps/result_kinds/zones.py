"""Describes results that are shares of persons in zones."""

from typing import Final

from heatmaps.result_kinds.format import CSV, GEOJSON, PNG, by_suffix, html
from heatmaps.result_kinds.kind import ResultKind
from mechanisms.results.zones import ZoneShares

_SHARES: Final = (
    "share: of all people enrolled, the mean of how much of a person's check-ins is in the zone, counting "
    "less and less over its soft edge; standard_error in the same unit"
)

ZONES: Final = ResultKind(
    name="zones",
    result=ZoneShares,
    word="map of zones",
    content="zones",
    published="published shares",
    error_fields={"share": "Standard error of each share, of 1."},
    stem="zones",
    digest="zones_sha256",
    formats=by_suffix(
        PNG(values=_SHARES, writer="heatmaps.exports.png.write_drawing", has_sheet=True),
        html(_SHARES),
        GEOJSON(values=_SHARES, writer="heatmaps.exports.zones.write_geojson", has_sheet=True),
        CSV(values=_SHARES, writer="heatmaps.exports.zones.write_csv"),
    ),
    sketch="heatmaps.exports.zones.sketch_zones",
    map_parts="heatmaps.maps.zones.zone_parts",
    table="heatmaps.wording.zones.shares_words",
    table_template="releases/shares.html",
    sheet_part="heatmaps.wording.zones.sheet_part",
    sheet_facts="heatmaps.wording.zones.sheet_facts",
    error_words="heatmaps.wording.expected_error.of_shares",
)
