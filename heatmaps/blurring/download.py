"""Blurs a steward's file and returns it with its statement as a download.

The file is read for the steward alone: nothing of it is stored, nothing is charged. The server sees the
true places, so what it promises asks for the trust of `Trust.CENTRAL`, whatever the mechanism was made for.
Whoever hands the result on releases something about its persons that no ledger knows of; the statement says
so.
"""

import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final, cast

import structlog
from django.conf import settings
from django.contrib.auth.models import User

from heatmaps.blurring.rows import Blur
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.formats.reader import ReaderError
from heatmaps.ingest.options import Options
from heatmaps.models import Dataset
from heatmaps.regions import region_of
from heatmaps.wording.local import ON_THE_SERVER, at_best, statements
from mechanisms.catalogue import local
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Relation, Trust
from mechanisms.local.lattice import Lattice
from mechanisms.local.least_error import least_error
from mechanisms.local.reports import target_alpha
from mechanisms.mechanism import Target
from mechanisms.randomness import SystemSource
from mechanisms.space.grid import Region

MOST_BYTES: Final = 20 * 2**20  # read and answered within one request
MOST_ROWS: Final = 200_000
MOST_REPORTS: Final = 10_000  # of one person
LARGEST_RADIUS_M: Final = 10**7
ROWS_NAME, STATEMENT_NAME = "blurred.csv", "statement.json"
NOT_CHARGED: Final = (
    "Nothing was charged to the budget of the dataset: this file was read for you alone and is not kept. "
    "Sharing it is one more release about these people: its loss adds to everything else released about "
    "them, from this dataset too. No ledger counts that; you have to."
)

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlurQuestion:
    """Holds a question as a form or the API sends it; `blur_for` says what is wrong with it."""

    mechanism: str
    epsilon: str  # of one report at the radius
    radius_m: str | int
    max_reports: str | int  # of one person
    cell_m: str | None = None  # None: by the radius
    leave_out: bool = False  # a person's further rows, rather than refusing the file
    columns: str = ""
    max_rejected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlurPlan:
    """Holds the blur of a file, and what it promises."""

    blur: Blur
    radius_m: int
    statements: tuple[str, ...]


def plan_of(dataset: Dataset, question: BlurQuestion) -> BlurPlan:
    """Checks everything that can be checked without the file. Errors: `ParameterError`."""
    region = region_of(dataset)
    lattice, target = _cells_and_target(region, question)
    mechanism = local.build(
        question.mechanism,
        target=target,
        max_reports=_whole("max_reports", question.max_reports, MOST_REPORTS),
        lattice=lattice,
    )
    radius_m = int(target.radius_m or 0)
    blur = Blur(
        region=region,
        mechanism=mechanism,
        options=Options.parse(columns=question.columns, max_rejected=question.max_rejected),
        max_rejected_share=settings.MAX_REJECTED_SHARE,
        leave_out=question.leave_out,
        most_rows=MOST_ROWS,
    )
    sentences = statements(mechanism, radius_m=radius_m, diameter_m=region.diameter_m, trusted=ON_THE_SERVER)
    return BlurPlan(blur=blur, radius_m=radius_m, statements=(*sentences, NOT_CHARGED))


def no_better(dataset: Dataset, question: BlurQuestion) -> str:
    """Says what no mechanism can do better than, whose loss rises evenly with distance to ε at the radius.

    No mechanism is built: it takes milliseconds for any question. Errors: `ParameterError`.
    """
    lattice, target = _cells_and_target(region_of(dataset), question)
    return at_best(least_error(lattice, target_alpha(target, lattice)))


def blurred(steward: User, dataset: Dataset, question: BlurQuestion, file: BinaryIO) -> BinaryIO:
    """Returns a ZIP with the blurred rows and the statement; whoever sends it closes it.

    Errors: `ParameterError`; `UploadError` for a file that is too large, cannot be read, or has rows that are
    refused.
    """
    plan = plan_of(dataset, question)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "the file"
        _store(file, source)
        try:
            tally = plan.blur.check(source)
            archive = _zip(
                lambda stream: plan.blur.write(source, stream, SystemSource(), tally), _statement(plan)
            )
        except ReaderError as error:
            raise UploadError(error.code, str(error)) from error
    _log.info("file.blurred", by=steward.pk, dataset=dataset.pk, mechanism=plan.blur.mechanism.name)
    return archive


def _cells_and_target(region: Region, question: BlurQuestion) -> tuple[Lattice, Target]:
    radius_m = Fraction(_whole("radius_m", question.radius_m, LARGEST_RADIUS_M))
    most = settings.MAX_EPSILON
    epsilon = exact_decimal("epsilon", question.epsilon, low=0, low_open=True, high=most)
    cell_m = question.cell_m
    cell = None if cell_m is None else exact_decimal("cell_m", cell_m, low=0, low_open=True, high=10**8)
    lattice = local.lattice_for(question.mechanism, region, radius_m=radius_m, cell_m=cell)
    usual = local.get(question.mechanism).usual_a_side
    if max(lattice.columns, lattice.rows) > usual:
        raise ParameterError("cell_m", str(cell_m), f"larger: at most {usual} cells a side on this page")
    return lattice, Target(relation=Relation.REPLACE, epsilon=epsilon, radius_m=radius_m)


def _whole(name: str, value: str | int, most: int) -> int:
    number = exact_decimal(name, value, low=1, high=most)
    if number.denominator != 1:
        raise ParameterError(name, value, f"a whole number from 1 to {most}")
    return int(number)


def _store(file: BinaryIO, target: Path) -> None:
    """Reads no more than is allowed, whatever length was said before."""
    left = MOST_BYTES
    with target.open("wb") as stream:
        while chunk := file.read(2**16):
            left -= len(chunk)
            if left < 0:
                raise UploadError(
                    "too_large", f"the file is larger than {MOST_BYTES} bytes, the most allowed here"
                )
            stream.write(chunk)


def _statement(plan: BlurPlan) -> str:
    mechanism = plan.blur.mechanism
    content = {
        "kind": "hazemap statement of blurred rows",
        "version": 1,
        "radius_m": plan.radius_m,
        **plan.blur.promise(),
        "guarantee": replace(mechanism.guarantee, trust=Trust.CENTRAL).to_json(),
        "per_report": replace(mechanism.per_report, trust=Trust.CENTRAL).to_json(),
        "statements": list(plan.statements),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _zip(write_rows: Callable[[BinaryIO], object], statement: str) -> BinaryIO:
    stream = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - whoever sends it closes it
    try:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            with archive.open(ROWS_NAME, "w", force_zip64=True) as member:
                write_rows(cast(BinaryIO, member))
            archive.writestr(STATEMENT_NAME, statement)
    except BaseException:
        stream.close()
        raise
    stream.seek(0)
    return stream
