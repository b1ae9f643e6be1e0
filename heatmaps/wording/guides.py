"""Words guides: maps that are public already and steer where a new map is fine."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal
from uuid import UUID

from heatmaps.guides import choices
from heatmaps.guides.chain import counted_sheet
from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset, GuideFile, Release
from heatmaps.numbers import amount, day
from heatmaps.regions import region_of
from heatmaps.wording.guarantee import decimal, priced, record_loss
from heatmaps.wording.release_line import made_title, release_line
from heatmaps.wording.unchecked_start import unchecked_of
from mechanisms.guarantee import Guarantee, Relation

# In place of the title of another dataset's map, once it is hidden again.
HIDDEN: Final = "A map of another dataset that was public when it was used"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideLine:
    """Describes a guide to readers: what it is, its source, and what nobody can check about it."""

    id: UUID
    kind: Literal["release", "file"]
    release: Release | None  # None: a file
    title: str
    epsilon: Fraction | None  # of a release
    source: str  # of a file, as it is cited
    licence: str
    sha256: str
    file_sha256: str  # of a file, as it was sent
    unchecked: str  # what nobody can check about it; empty: nothing
    conditions: tuple[str, ...]  # on which the stated promise then depends
    guarantee: Guarantee | None  # of a file that is a Hazemap map, and counted

    @property
    def beside(self) -> str:
        """Words the page's text beside its title: the ε of a map that has a name, or what a file is cited
        by."""
        if self.epsilon is not None:
            return "" if "ε" in self.title else f"ε {amount(self.epsilon)}"
        return ", ".join(filter(None, [self.source, self.licence]))


def guide_line(dataset: Dataset, start: Chosen, sha256: str, *, member: bool = False) -> GuideLine:
    """Words the line about a guide of a release of a dataset.

    sha256: of the guide. member: whether the reader is a member of the dataset.
    """
    release, file, unchecked = start.release, start.file, unchecked_of(start, dataset.relation)
    sheet = None if file is None else counted_sheet(start, Relation(dataset.relation))
    return GuideLine(
        id=start.id,
        kind=start.kind,
        release=release,
        title=_title(dataset, release, member=member) if file is None else file.title,
        epsilon=None if release is None else release.epsilon,
        source="" if file is None else file.source,
        licence="" if file is None else file.licence,
        sha256=sha256,
        file_sha256="" if file is None else file.file_sha256,
        unchecked="" if unchecked is None else unchecked.sentence,
        conditions=() if unchecked is None else unchecked.conditions,
        guarantee=None if sheet is None else sheet.guarantee,
    )


def file_promise(file: GuideFile) -> str:
    """Words what is counted of a stored file that is a Hazemap map; empty: it is none."""
    dataset = file.dataset
    sheet = counted_sheet(Chosen(file=file), Relation(dataset.relation))
    if sheet is None:
        return ""
    diameter_m = None if dataset.radius_m is None else region_of(dataset).diameter_m
    loss = priced(record_loss(sheet.guarantee, diameter_m), sheet.guarantee.delta)
    return f"A Hazemap map with {loss}. Maps that start from it state the sum."


def option(dataset: Dataset, start: Chosen) -> str:
    """Words a guide that members of a dataset may choose: "Map, ε 1 · 2026-11-24"."""
    release, file = start.release, start.file
    if release is None:
        return "" if file is None else f"{file.title} (file)"
    title = _title(dataset, release, member=True)
    epsilon = "" if "ε" in title else f", ε {amount(release.epsilon)}"
    return f"{title}{epsilon} · {day(release.visible_at)}"


def line_of(release: Release, *, member: bool = False) -> GuideLine | None:
    """Returns the `guide_line` of the guide that a release was reserved with; None where it has none."""
    start = choices.bound(release)
    if start is None:
        return None
    return guide_line(release.dataset, start, release.guide_sha256, member=member)


def file_facts(release: Release) -> dict[str, Any] | None:
    """Returns the guide of a release, for files, which have no names that people gave. None where it has
    none."""
    start = choices.bound(release)
    if start is None:
        return None
    line = guide_line(release.dataset, start, release.guide_sha256)
    title = line.title if start.release is None else _made_title(release.dataset, start.release)
    facts: dict[str, Any] = {"id": str(line.id), "kind": line.kind, "title": title, "source": line.source}
    facts |= {"licence": line.licence, "sha256": line.sha256, "file_sha256": line.file_sha256}
    facts |= {"unchecked": line.unchecked, "conditions": list(line.conditions)}
    if line.epsilon is not None:
        facts["epsilon"] = decimal(line.epsilon)
    return {name: fact for name, fact in facts.items() if fact}


def _title(dataset: Dataset, release: Release | None, *, member: bool) -> str:
    if release is None:
        return ""
    if release.dataset_id == dataset.pk:
        return release_line(release, member=member).title
    return release_line(release).title + _of(release) if release.is_public else HIDDEN


def _made_title(dataset: Dataset, release: Release) -> str:
    if release.dataset_id == dataset.pk:
        return made_title(release)
    return made_title(release) + _of(release) if release.is_public else HIDDEN


def _of(release: Release) -> str:
    return f" ({release.dataset.title})"
