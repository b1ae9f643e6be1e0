"""Lists what is in `mechanisms/metric/`: protects whole records by the earth mover's distance."""

from typing import Final

from mechanisms.catalogue.entries import (
    BOTH,
    EXPECTED_PERSONS,
    USUAL_DELTA,
    AnyEntry,
    CentroidEntry,
    DistancesEntry,
    HeatmapEntry,
    ItemsEntry,
    Parameter,
    ZonesEntry,
)
from mechanisms.mechanism import LARGEST_LENGTH_M

ENTRIES: Final[tuple[AnyEntry, ...]] = (
    HeatmapEntry(
        aside=True,
        title="Sampled check-ins, reported at random",
        summary="Draws check-ins of random people and reports each as its own square, another one of its "
        "district or any, by chance. Whoever runs this service is trusted with the check-ins. Every "
        "change of a person's record costs the same. For few squares and very many people; other "
        "methods give better maps.",
        name="frequency",
        class_path="mechanisms.metric.frequency.mechanism.Frequency",
        relations=BOTH,
        parameters=(
            EXPECTED_PERSONS,
            Parameter(
                name="district_levels",
                title="Levels below a district",
                help="A district is a square that is quartered so often; it hides its squares more than "
                "districts hide each other. Empty: as often as gives the least predicted error.",
                kind="int",
                low="0",
                high="4",
            ),
        ),
    ),
    ItemsEntry(
        aside=True,
        title="Check-ins blurred one by one and shuffled, simulated",
        summary="Simulates what people's own devices and a shuffler would publish: as many check-ins of each "
        "person, each blurred, and the most likely map behind them. Whoever runs this service is "
        "trusted with the check-ins. ε is the cost when a whole record moves by the dataset's radius; "
        "smaller moves cost less but never nothing, an exchange up to several times as much. For a "
        "rough picture of very many people; other methods give finer maps.",
        name="emd-itemwise",
        class_path="mechanisms.metric.itemwise.mechanism.EmdItemwise",
        simulates_shuffling=True,
        usual_delta=USUAL_DELTA,
        parameters=(
            Parameter(
                name="samples",
                title="Check-ins drawn of every person",
                help="With replacement, the same number for everyone. More make short moves cheaper than "
                "long ones and whole records dearer; with very few, every change costs the same. Empty: "
                "the fewest of 16, 64 and 256 with nearly the least predicted error.",
                kind="int",
                low="1",
                high="1024",
            ),
        ),
    ),
    CentroidEntry(
        title="Mean location with planar noise",
        summary="The mean of all people's mean positions, with noise that hides how far any record moved. "
        "Whoever runs this service is trusted with the check-ins. ε is the cost when a whole record "
        "moves by the dataset's radius: half of it for half the way or half the check-ins, and up to "
        "the region's diameter over the radius times as much for an exchange. At equal ε its error is "
        "about half that of the drawn candidate.",
        name="emd-linear",
        class_path="mechanisms.metric.linear.centroid.EmdLinear",
    ),
    ZonesEntry(
        title="Shares in zones that you draw",
        summary="The share of people's check-ins in each of a few zones, averaged over everyone enrolled. "
        "Whoever runs this service is trusted with the check-ins. ε is the cost when a whole record "
        "moves by the dataset's radius: half of it for half the way or half the check-ins. For a few "
        "places known beforehand, such as districts; edges are soft, and softer edges need less "
        "noise.",
        name="emd-zones",
        class_path="mechanisms.metric.linear.zones.EmdZones",
        parameters=(
            Parameter(
                name="zones",
                title="Zones",
                help="Up to 12 polygons without holes, as GeoJSON in degrees; a zone is named by its "
                "property “name”. Public, and drawn without looking at the data. They may overlap.",
                kind="zones",
            ),
            Parameter(
                name="margin_m",
                title="Soft edge",
                help="Metres outside a zone over which a check-in counts less and less. Wider needs less "
                "noise and blurs where a zone ends. Empty: twice the dataset's radius.",
                kind="decimal",
                low="1",
                high=str(LARGEST_LENGTH_M),
            ),
        ),
    ),
    DistancesEntry(
        title="Mean distance to places that you name",
        summary="How far people's check-ins are from each of a few places in a straight line, averaged over "
        "everyone enrolled. Whoever runs this service is trusted with the check-ins. ε is the cost "
        "when a whole record moves by the dataset's radius: half of it for half the way or half the "
        "check-ins. For comparing sites known beforehand, such as stations; every further place adds "
        "noise.",
        name="emd-distances",
        class_path="mechanisms.metric.linear.distances.EmdDistances",
        parameters=(
            Parameter(
                name="places",
                title="Places",
                help="Up to 12 points in the region, as GeoJSON in degrees; a place is named by its property "
                "“name”. Public, and chosen without looking at the data.",
                kind="places",
            ),
        ),
    ),
)
