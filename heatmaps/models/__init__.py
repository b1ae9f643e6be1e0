"""Tables, one file a subject."""

from heatmaps.models.dataset import Dataset, DataVersion, Membership, RelationChoice, Role
from heatmaps.models.ledger import Account, AccountKind, Allowance, Event, Ledger
from heatmaps.models.packed import PackedCheckIns, PackingAttempts
from heatmaps.models.people import LinkPurpose, OneTimeLink, PeopleRules, Profile
from heatmaps.models.release import Charge, Release, ReleaseState, RequestKey, Result
from heatmaps.models.shard import FanOut, Shard, ShardPiece, ShardState
from heatmaps.models.token import ApiToken, Scope
from heatmaps.models.upload import OPT_OUT_STATES, CheckIn, Enrolment, Suppression, Upload, UploadState

__all__ = [
    "OPT_OUT_STATES",
    "Account",
    "AccountKind",
    "Allowance",
    "ApiToken",
    "Charge",
    "CheckIn",
    "DataVersion",
    "Dataset",
    "Enrolment",
    "Event",
    "FanOut",
    "Ledger",
    "LinkPurpose",
    "Membership",
    "OneTimeLink",
    "PackedCheckIns",
    "PackingAttempts",
    "PeopleRules",
    "Profile",
    "RelationChoice",
    "Release",
    "ReleaseState",
    "RequestKey",
    "Result",
    "Role",
    "Scope",
    "Shard",
    "ShardPiece",
    "ShardState",
    "Suppression",
    "Upload",
    "UploadState",
]
