"""Asks how long check-ins are kept, alone or beside others."""

from django import forms

from heatmaps.ingest.versions.retention import MOST_DAYS
from heatmaps.origins import Origin
from heatmaps.views.fields import ReasonField, WholeNumber


class RetentionFields(forms.Form):
    """Asks after how many days check-ins are deleted; the field only."""

    retention_days = WholeNumber(
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
    )

    def word_for(self, origin: Origin) -> None:
        """Words the field: where nothing is elsewhere, nothing is kept or deleted here."""
        field, words = self.fields["retention_days"], origin.words.retention
        field.label, field.help_text = words.label, words.help


class RetentionForm(ReasonField, RetentionFields):
    """Asks for another number of days for a dataset, and why."""
