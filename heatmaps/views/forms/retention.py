"""Field for how long check-ins are kept, alone or beside others."""

from django import forms

from heatmaps.ingest.versions.retention import MOST_DAYS
from heatmaps.views.forms.shared import ReasonField, WholeNumber


class RetentionFields(forms.Form):
    """Holds the field only."""

    retention_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        label="Keep check-ins for",
        help_text="Public. Each data version deletes check-ins of earlier days (UTC). Empty: kept for ever.",
    )

    def word_for_lake(self) -> None:
        """Words the field for a lake, where nothing is kept or deleted here."""
        field = self.fields["retention_days"]
        field.label = "Read check-ins of the last"
        field.help_text = "Public. Each data version leaves out those of earlier days (UTC). Empty: none."


class RetentionForm(ReasonField, RetentionFields):
    """Asks for another number of days for a dataset, and why."""
