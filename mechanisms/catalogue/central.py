"""Lists what is in `mechanisms/central/`: one trusted server draws the noise."""

from typing import Final

from mechanisms.catalogue.entries import (
    BOTH,
    EXPECTED_PERSONS,
    AnyEntry,
    CentroidEntry,
    HeatmapEntry,
    Parameter,
    length_m,
)

ENTRIES: Final[tuple[AnyEntry, ...]] = (
    HeatmapEntry(
        title="Adaptive squares",
        summary="Measures small squares where many people are, large ones elsewhere; can start from a public "
        "map. The right choice for most maps; needs a public guess of how many people there are.",
        name="adaptive",
        class_path="mechanisms.central.adaptive.mechanism.Adaptive",
        relations=BOTH,
        takes_guide=True,
        parameters=(EXPECTED_PERSONS,),
    ),
    HeatmapEntry(
        title="Sparse reconstruction",
        summary="Finds the busiest squares from coarse to fine and spends the budget on those only. "
        "For when the number of people is unknown; its quality hardly depends on the resolution.",
        name="sparse-emd",
        class_path="mechanisms.central.sparse_emd.mechanism.SparseEmd",
        relations=BOTH,
        parameters=(
            Parameter(
                name="width",
                title="Squares kept a level",
                help="How many squares are followed to the next finer level (w in the paper). "
                "Larger finds more places, with more noise in each.",
                kind="int",
                default="20",
                low="1",
                high="1000",
            ),
            Parameter(
                name="decay",
                title="Budget of the next finer level",
                help="Part of a level's budget that the next finer level gets (γ in the paper, 1/√2). "
                "Smaller favours coarse levels; no unit.",
                kind="decimal",
                default="0.70710678118654752440",
                low="0.5",
                high="1",
            ),
        ),
    ),
    HeatmapEntry(
        aside=True,
        title="Noisy tree of squares",
        summary="Splits squares while they seem to hold people, then measures those that are left. "
        "A baseline for comparison that needs no guess of the number of people.",
        name="privtree",
        class_path="mechanisms.central.privtree.mechanism.PrivTree",
        relations=BOTH,
        parameters=(
            Parameter(
                name="tree_percent",
                title="Budget of the tree",
                help="Percentage of epsilon that decides which squares are split; the rest measures them. "
                "Larger finds finer squares, with more noise in each.",
                kind="decimal",
                default="30",
                low="1",
                high="99",
            ),
        ),
    ),
    HeatmapEntry(
        aside=True,
        title="One grid as fine as the noise allows",
        summary="Measures one grid whose squares are as small as the number of people allows. For people "
        "spread everywhere: its error does not depend on where they are.",
        name="dense-emd",
        class_path="mechanisms.central.dense_emd.mechanism.DenseEmd",
        relations=BOTH,
        parameters=(EXPECTED_PERSONS,),
    ),
    HeatmapEntry(
        title="Centres and their areas",
        summary="Finds a few centres that people are near to, and how many are nearer to each than to any "
        "other. For placing services; distances are counted along both axes of the map.",
        name="k-median",
        class_path="mechanisms.central.k_median.mechanism.KMedian",
        relations=BOTH,
        parameters=(
            Parameter(
                name="centres",
                title="Centres",
                help="How many centres are sought (k in the paper). More are nearer to people, with "
                "fewer people and more noise in the area of each.",
                kind="int",
                default="8",
                low="1",
                high="100",
            ),
        ),
    ),
    HeatmapEntry(
        aside=True,
        title="Noise in every square, largest kept",
        summary="Adds noise to every square of the grid and keeps only the largest values. "
        "A baseline for comparison: useful when very few squares hold nearly everyone.",
        name="laplace-top",
        class_path="mechanisms.central.grid_laplace.laplace_top.LaplaceTop",
        relations=BOTH,
        parameters=(
            Parameter(
                name="keep_percent",
                title="Squares kept",
                help="Percentage of all squares of the grid that are kept, rounded up to a whole number "
                "of squares (0.01 % of a 256 by 256 grid are 7).",
                kind="decimal",
                default="0.01",
                low="0",
                low_open=True,
                high="100",
            ),
        ),
    ),
    HeatmapEntry(
        aside=True,
        title="Noise in every square",
        summary="Adds noise to every square of the grid. "
        "A baseline for comparison: good only when squares are few and people many.",
        name="laplace",
        class_path="mechanisms.central.grid_laplace.laplace.Laplace",
        relations=BOTH,
    ),
    CentroidEntry(
        aside=True,
        title="Central point of all people",
        summary="One point near the middle of all people, each at the mean of their own check-ins. "
        "ε is the cost when one person's record moves by the dataset's radius; an exchange costs up to the "
        "region's diameter over the radius times as much.",
        name="exponential",
        class_path="mechanisms.central.exponential.mechanism.Exponential",
        parameters=(
            length_m(
                name="spacing_m",
                title="Spacing of the candidates",
                help="Distance in metres between the points that can be released, at most. Left empty: about "
                "the width of the noise; finer gains next to nothing, coarser rounds the result.",
            ),
        ),
    ),
)
