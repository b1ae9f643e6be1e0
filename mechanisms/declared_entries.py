"""What the catalogue says of mechanisms that need a declared number of persons: `Relation.REPLACE` only."""

from typing import Final, TypedDict

from mechanisms.central.exponential import LARGEST_LENGTH_M, Exponential
from mechanisms.entries import AnyEntry, CentroidEntry, DistancesEntry, ItemsEntry, Parameter, ZonesEntry
from mechanisms.guarantee import Relation
from mechanisms.local.centroid import GeoLocalCentroid
from mechanisms.metric.itemwise_map import HIGHEST_RESOLUTION, MOST_SAMPLES, EmdItemwise
from mechanisms.metric.linear_centroid import EmdLinear
from mechanisms.metric.linear_distances import EmdDistances
from mechanisms.metric.linear_mechanism import LARGEST_LENGTH_M as LARGEST_MARGIN_M
from mechanisms.metric.linear_zones import SMALLEST_MARGIN_M, EmdZones
from mechanisms.shuffle.centroid import GeoShuffle, RrShuffle, SgdlShuffle


class _Shuffled(TypedDict):
    """What the central points by shuffling have in common."""

    relations: frozenset[Relation]
    usual_delta: str
    parameters: tuple[Parameter, ...]


_SHUFFLED: Final[_Shuffled] = {
    "relations": frozenset({Relation.REPLACE}),
    "usual_delta": "0.000000001",
    "parameters": (
        Parameter(
            name="cell_m",
            title="Squares that devices report in",
            help="Side in metres of the squares that positions are counted in. Left empty: a small part of "
            "the dataset's radius; smaller gains little, larger adds what rounding can add to a move.",
            kind="decimal",
            default="",
            low="0",
            low_open=True,
            high=str(LARGEST_LENGTH_M),
        ),
        Parameter(
            name="reach_m",
            title="Distance up to which it promises",
            help="Metres; farther moves have no bound, and whole records have one only where this is at "
            "least the region's diameter. Left empty: the dataset's radius or, where whole records have a "
            "limit, the region's diameter. Farther needs more noise, except with the least-noise protocol.",
            kind="decimal",
            default="",
            low="0",
            low_open=True,
            high=str(LARGEST_LENGTH_M),
        ),
    ),
}

DECLARED: Final[tuple[AnyEntry, ...]] = (
    ItemsEntry(
        name="emd-itemwise",
        aside=True,
        title="Check-ins blurred one by one and shuffled, simulated",
        summary="What people's own devices and a shuffler would publish, simulated here: the same number of "
        "check-ins drawn of every person, each moved at random, all in one heap, and the map that is most "
        "likely behind it. Whoever runs this service is trusted with the check-ins. What is protected is "
        "a person's whole record, by the earth mover's distance: ε is what it costs when all of it moves "
        "by the dataset's radius; smaller moves cost less, though never nothing, an exchange up to "
        "several times as much. To be preferred where devices are to blur every place themselves one day, "
        "and for the large picture of very many persons; other mechanisms give finer maps.",
        mechanism=EmdItemwise,
        relations=frozenset({Relation.REPLACE}),
        simulates_shuffling=True,
        usual_delta="0.000000001",
        max_resolution=HIGHEST_RESOLUTION,
        parameters=(
            Parameter(
                name="samples",
                title="Check-ins drawn of every person",
                help="With replacement, the same number of everybody. More make short moves cost less than "
                "long ones, and whole records cost more; with very few every change costs the same. Left "
                "empty: the fewest of 16, 64 and 256 that promise nearly the least error.",
                kind="int",
                default="",
                low="1",
                high=str(MOST_SAMPLES),
            ),
        ),
    ),
    CentroidEntry(
        name="exponential",
        aside=True,
        title="Central point of all persons",
        summary="One point near the middle of all persons, each at the mean of their own check-ins. "
        "ε is what it costs when one person's record moves by the dataset's radius; the exchange of a whole "
        "record costs more, up to the region's diameter over the radius times as much.",
        mechanism=Exponential,
        relations=frozenset({Relation.REPLACE}),
        parameters=(
            Parameter(
                name="spacing_m",
                title="Spacing of the candidates",
                help="Distance in metres between the points that can be released, at most. Left empty: about "
                "the width of the noise; finer gains next to nothing, coarser rounds the result.",
                kind="decimal",
                default="",
                low="0",
                low_open=True,
                high=str(LARGEST_LENGTH_M),
            ),
        ),
    ),
    CentroidEntry(
        name="emd-linear",
        title="Mean location with planar noise",
        summary="The mean of all persons' mean positions, with noise that hides how far any record moved. "
        "Whoever runs this service is trusted with the check-ins. What is protected is a person's whole "
        "record, by the earth mover's distance: ε is what it costs when all of it moves by the dataset's "
        "radius, half as much for half the way or half the check-ins, and up to the region's diameter over "
        "the radius times as much when it is exchanged. To be preferred for one central point: at equal ε "
        "its error is about half that of the drawn candidate.",
        mechanism=EmdLinear,
        relations=frozenset({Relation.REPLACE}),
    ),
    CentroidEntry(
        name="sgdl-shuffle",
        aside=True,
        title="Central point by shuffling, least noise",
        summary="What people's own devices and a shuffler would publish, simulated here: every device adds a "
        "share of the noise, and all shares together are no more than a trusted server would need. ε is what "
        "it costs when one person's record moves by the dataset's radius.",
        mechanism=SgdlShuffle,
        **_SHUFFLED,
    ),
    CentroidEntry(
        name="geo-shuffle",
        aside=True,
        title="Central point by shuffling, noise on every device",
        summary="Simulated here, too: every device adds noise that protects its person a little also when "
        "the shuffler cheats. Several times the noise of the one above.",
        mechanism=GeoShuffle,
        **_SHUFFLED,
    ),
    CentroidEntry(
        name="rr-shuffle",
        aside=True,
        title="Central point by shuffling, flipped bits",
        summary="Simulated here, too: every device flips bits at random, the oldest such protocol. "
        "A baseline for comparison: more noise than the two above.",
        mechanism=RrShuffle,
        **_SHUFFLED,
    ),
    CentroidEntry(
        name="geo-local",
        aside=True,
        title="Central point of blurred reports, simulated",
        summary="What people's own devices would publish if each blurred its own place and nobody had to be "
        "trusted: the mean of all reports. Here the server, which has the check-ins, does it all: to see "
        "what that trust is worth. ε is what it costs when one person's record moves by the dataset's "
        "radius. Its error is that of a trusted server times the square root of the number of persons.",
        mechanism=GeoLocalCentroid,
        simulates_devices=True,
        relations=frozenset({Relation.REPLACE}),
        parameters=(
            Parameter(
                name="cell_m",
                title="Squares that devices report in",
                help="Side in metres of the squares that positions are counted in. Left empty: a small part "
                "of the dataset's radius, or more where noise is wide; larger adds what rounding can add to "
                "a move.",
                kind="decimal",
                default="",
                low="0",
                low_open=True,
                high=str(LARGEST_LENGTH_M),
            ),
        ),
    ),
    ZonesEntry(
        name="emd-zones",
        title="Shares in zones that you draw",
        summary="How much of all persons' records lies in each of a few zones: what part of a person's "
        "check-ins, on average over everybody enrolled. Whoever runs this service is trusted with the "
        "check-ins. What is protected is a person's whole record, by the earth mover's distance: ε is what "
        "it costs when all of it moves by the dataset's radius, half as much for half the way or half the "
        "check-ins. To be preferred for a few questions about places that are known beforehand, such as "
        "districts or catchment areas; edges are soft, and the softer they are the less noise it takes.",
        mechanism=EmdZones,
        relations=frozenset({Relation.REPLACE}),
        parameters=(
            Parameter(
                name="zones",
                title="Zones",
                help="Up to 12 polygons without holes, as GeoJSON in degrees; a zone is named by its "
                "property “name”. Public, and drawn without looking at the data. They may overlap.",
                kind="zones",
                default="",
                low="",
                high="",
            ),
            Parameter(
                name="margin_m",
                title="Soft edge",
                help="Metres outside a zone over which a check-in counts less and less. Wider takes less "
                "noise and tells less exactly where a zone ends. Left empty: twice the dataset's radius.",
                kind="decimal",
                default="",
                low=str(SMALLEST_MARGIN_M),
                high=str(LARGEST_MARGIN_M),
            ),
        ),
    ),
    DistancesEntry(
        name="emd-distances",
        title="Mean distance to places that you name",
        summary="How far everybody is from each of a few places: the distance of a person's check-ins in a "
        "straight line, on average over them and over everybody enrolled. Whoever runs this service is "
        "trusted with the check-ins. What is protected is a person's whole record, by the earth mover's "
        "distance: ε is what it costs when all of it moves by the dataset's radius, half as much for half "
        "the way or half the check-ins. To be preferred for comparing sites that are known beforehand, such "
        "as stations or clinics; every further place takes more noise.",
        mechanism=EmdDistances,
        relations=frozenset({Relation.REPLACE}),
        parameters=(
            Parameter(
                name="places",
                title="Places",
                help="Up to 12 points in the region, as GeoJSON in degrees; a place is named by its property "
                "“name”. Public, and chosen without looking at the data.",
                kind="places",
                default="",
                low="",
                high="",
            ),
        ),
    ),
)
