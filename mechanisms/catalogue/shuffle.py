"""Lists what is in `mechanisms/shuffle/`: devices and a shuffler, simulated on stored check-ins."""

from typing import Final

from mechanisms.catalogue.entries import (
    USUAL_DELTA,
    AnyEntry,
    CentroidEntry,
    HeatmapEntry,
    Parameter,
    length_m,
)

_SQUARES_AND_REACH: Final = (
    length_m(
        name="cell_m",
        title="Squares that devices report in",
        help="Side in metres of the squares that positions are counted in. Left empty: a small part of "
        "the dataset's radius; smaller gains little, larger adds what rounding can add to a move.",
    ),
    length_m(
        name="reach_m",
        title="Distance up to which it promises",
        help="Metres; farther moves have no bound, and whole records have one only where this is at "
        "least the region's diameter. Left empty: the dataset's radius or, where whole records have a "
        "limit, the region's diameter. Farther needs more noise, except with the least-noise protocol.",
    ),
)
ENTRIES: Final[tuple[AnyEntry, ...]] = (
    HeatmapEntry(
        aside=True,
        title="Sparse reconstruction by shuffling, simulated",
        summary="Simulates devices that add shares of the noise and send shuffled shares of their numbers, "
        "so that nobody has to be trusted. This server has the check-ins and does it all: it shows what "
        "such a round is worth.",
        name="shuffle-emd",
        class_path="mechanisms.shuffle.shuffle_emd.ShuffleEmd",
        simulates_shuffling=True,
        flat=True,
        parameters=(
            Parameter(
                name="parts",
                title="Parts of a person",
                help="What devices divide a person's mass into, a power of two (B in the paper). "
                "Fewer send less and lose more of people with many places.",
                kind="int",
                default="1024",
                low="2",
                high="65536",
            ),
        ),
    ),
    CentroidEntry(
        aside=True,
        title="Central point by shuffling, least noise",
        summary="What people's own devices and a shuffler would publish, simulated here: every device adds a "
        "share of the noise, and all shares together are no more than a trusted server would need. ε is what "
        "it costs when one person's record moves by the dataset's radius.",
        name="sgdl-shuffle",
        class_path="mechanisms.shuffle.centroid.SgdlShuffle",
        usual_delta=USUAL_DELTA,
        parameters=_SQUARES_AND_REACH,
    ),
    CentroidEntry(
        aside=True,
        title="Central point by shuffling, noise on every device",
        summary="Simulated here, too: every device adds noise that protects its person a little also when "
        "the shuffler cheats. Several times the noise of the one above.",
        name="geo-shuffle",
        class_path="mechanisms.shuffle.centroid.GeoShuffle",
        usual_delta=USUAL_DELTA,
        parameters=_SQUARES_AND_REACH,
    ),
    CentroidEntry(
        aside=True,
        title="Central point by shuffling, flipped bits",
        summary="Simulated here, too: every device flips bits at random, the oldest such protocol. "
        "A baseline for comparison: more noise than the two above.",
        name="rr-shuffle",
        class_path="mechanisms.shuffle.centroid.RrShuffle",
        usual_delta=USUAL_DELTA,
        parameters=_SQUARES_AND_REACH,
    ),
)
