"""Lists everything that this package asks a server: one line an operation of its OpenAPI document."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Call:
    """Describes an operation. answer: the component it answers with, or a page of them; empty: a file."""

    method: str
    path: str
    answer: str = ""
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    is_repeatable: bool = False  # asking twice does no more than asking once; of GET, it never does


_PAGE: Final = ("page", "page_size")
_DATASETS: Final = "/api/v1/datasets/"
_DATASET: Final = "/api/v1/datasets/{slug}/"
_UPLOAD: Final = "/api/v1/uploads/{upload_id}/"
_RELEASE: Final = "/api/v1/releases/{release_id}/"
_FILE: Final = ("name", "advance", "columns", "time_zone", "max_rejected")
_EVENTS: Final = ("kind", "person", "day")
_KEY: Final = ("Idempotency-Key",)  # the same never pays twice

LIST_MECHANISMS: Final = Call("GET", "/api/v1/mechanisms/", "MechanismOut", _PAGE)
LIST_DATASETS: Final = Call("GET", _DATASETS, "DatasetOut", (*_PAGE, "search"))
CREATE_DATASET: Final = Call("POST", _DATASETS, "DatasetOut")
READ_DATASET: Final = Call("GET", _DATASET, "DatasetOut")
LIST_VERSIONS: Final = Call("GET", f"{_DATASET}versions/", "VersionOut", _PAGE)
ADVANCE_VERSION: Final = Call("POST", f"{_DATASET}versions/", "VersionOut")

LIST_UPLOADS: Final = Call("GET", f"{_DATASET}uploads/", "UploadOut", (*_PAGE, "state"))
SEND_FILE: Final = Call("POST", f"{_DATASET}uploads/", "UploadOut", _FILE)
SEND_CHECKINS: Final = Call("POST", f"{_DATASET}checkins/", "UploadOut", ("advance",))
READ_UPLOAD: Final = Call("GET", _UPLOAD, "UploadOut")
READ_REJECTED: Final = Call("GET", f"{_UPLOAD}rejected.csv")
UNDO_UPLOAD: Final = Call("POST", f"{_UPLOAD}undo/", "UploadOut")

QUOTE: Final = Call("POST", f"{_DATASET}quotes/", "QuoteOut", is_repeatable=True)
LIST_RELEASES: Final = Call("GET", f"{_DATASET}releases/", "ReleaseOut", _PAGE)
ASK_RELEASE: Final = Call("POST", f"{_DATASET}releases/", "ReleaseOut", (), _KEY, is_repeatable=True)
READ_RELEASE: Final = Call("GET", _RELEASE, "ReleaseOut")
CANCEL_RELEASE: Final = Call("POST", f"{_RELEASE}cancel/", "ReleaseOut")
CHANGE_RELEASE: Final = Call("PATCH", _RELEASE, "ReleaseOut")
FILES: Final = {
    stem: Call("GET", f"{_RELEASE}{stem}.{{suffix}}", query=("look", "layer"))
    for stem in ("heatmap", "point", "zones", "distances")
}
SUM_AREAS: Final = Call("POST", f"{_RELEASE}areas/", "AreasOut", is_repeatable=True)

READ_BUDGET: Final = Call("GET", f"{_DATASET}budget/", "BudgetOut")
CHANGE_BUDGET: Final = Call("PATCH", f"{_DATASET}budget/", "BudgetOut", headers=("If-Match",))
LIST_EVENTS: Final = Call("GET", f"{_DATASET}ledger/", "EventOut", (*_PAGE, *_EVENTS))
READ_LEDGER: Final = Call("GET", "/api/v1/datasets/{slug}/ledger.{suffix}")
