"""Field for how long check-ins are kept, alone or beside others."""

from django import forms

from heatmaps.ingest.versions.retention import MOST_DAYS
from heatmaps.views.forms.shared import ReasonField, WholeNumber


class RetentionFields(forms.Form):
    """The field only."""

    retention_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        label="Keep check-ins for",
        help_text="Public. Each data version deletes check-ins of earlier days (UTC). Empty: kept for ever.",
    )


class RetentionForm(ReasonField, RetentionFields):
    """Another number of days for a dataset, and why."""
