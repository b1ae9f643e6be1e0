"""Tables, one file a subject."""

from heatmaps.models.dataset import Dataset, DataVersion, Membership, RelationChoice, Role
from heatmaps.models.ledger import Account, AccountKind, Event, Ledger
from heatmaps.models.release import Charge, Release, ReleaseState, RequestKey, Result
from heatmaps.models.token import ApiToken, Scope
from heatmaps.models.upload import CheckIn, Suppression, Upload, UploadState

__all__ = [
    "Account",
    "AccountKind",
    "ApiToken",
    "Charge",
    "CheckIn",
    "DataVersion",
    "Dataset",
    "Event",
    "Ledger",
    "Membership",
    "RelationChoice",
    "Release",
    "ReleaseState",
    "RequestKey",
    "Result",
    "Role",
    "Scope",
    "Suppression",
    "Upload",
    "UploadState",
]
