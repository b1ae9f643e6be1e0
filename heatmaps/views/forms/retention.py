"""How long check-ins are kept: the field, alone or beside others."""

from django import forms

from heatmaps.retention import MOST_DAYS
from heatmaps.views.forms.schedule import ReasonField
from heatmaps.views.forms.shared import WholeNumber


class RetentionFields(forms.Form):
    """The field only."""

    retention_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        label="Keep check-ins for",
        help_text="In days of 24 hours, from midnight to midnight UTC. Older check-ins leave the dataset at "
        "the next data version and are deleted from storage. Empty: they are kept for ever. It is public.",
    )


class RetentionForm(ReasonField, RetentionFields):
    """Another number of days for a dataset, and why."""
