"""Tables, one file a subject."""

from heatmaps.models.administrator_read import AdministratorRead
from heatmaps.models.check_in import CheckIn, Extent
from heatmaps.models.collection import Collection, Round
from heatmaps.models.dataset import (
    Dataset,
    DataVersion,
    Membership,
    RelationChoice,
    Role,
    RowCapacity,
    UserForm,
)
from heatmaps.models.district_file import DistrictFile
from heatmaps.models.guide_file import GuideFile
from heatmaps.models.heartbeat import Heartbeat
from heatmaps.models.installation import Election, HoldCause, Installation, Restoration, RestoredCharge
from heatmaps.models.ledger import Account, AccountKind, Allowance, Event, Ledger
from heatmaps.models.packed import PackedCheckIns, PackingAttempts
from heatmaps.models.people import (
    SEEN_BY_WORKERS,
    CodeKind,
    CodeTries,
    Invitation,
    PasswordLink,
    PeopleRules,
    Profile,
    hidden_columns,
)
from heatmaps.models.release import (
    Charge,
    Drawing,
    DrawingState,
    Publication,
    Release,
    ReleaseState,
    RequestKey,
    Result,
)
from heatmaps.models.source import SourceReading, SourceState, SourceSurvey, SurveyState
from heatmaps.models.token import ApiToken, Scope
from heatmaps.models.upload import OPT_OUT_STATES, Enrolment, Suppression, Upload, UploadState

__all__ = [
    "OPT_OUT_STATES",
    "SEEN_BY_WORKERS",
    "Account",
    "AccountKind",
    "AdministratorRead",
    "Allowance",
    "ApiToken",
    "Charge",
    "CheckIn",
    "CodeKind",
    "CodeTries",
    "Collection",
    "DataVersion",
    "Dataset",
    "DistrictFile",
    "Drawing",
    "DrawingState",
    "Election",
    "Enrolment",
    "Event",
    "Extent",
    "GuideFile",
    "Heartbeat",
    "HoldCause",
    "Installation",
    "Invitation",
    "Ledger",
    "Membership",
    "PackedCheckIns",
    "PackingAttempts",
    "PasswordLink",
    "PeopleRules",
    "Profile",
    "Publication",
    "RelationChoice",
    "Release",
    "ReleaseState",
    "RequestKey",
    "Restoration",
    "RestoredCharge",
    "Result",
    "Role",
    "Round",
    "RowCapacity",
    "Scope",
    "SourceReading",
    "SourceState",
    "SourceSurvey",
    "Suppression",
    "SurveyState",
    "Upload",
    "UploadState",
    "UserForm",
    "hidden_columns",
]
