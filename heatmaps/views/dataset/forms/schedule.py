"""Asks when data versions advance, alone or beside others."""

from typing import Any, Final

from django import forms

from heatmaps.ingest.versions.schedule import DAILY, LAST_DAY, MONTHLY, WEEKDAYS, WEEKLY, Schedule
from heatmaps.views.fields import ReasonField, explain
from mechanisms.check import ParameterError

SCHEDULE_FIELDS: Final = {f"schedule.{name}": name for name in ("every", "hour", "weekday", "day")}


class ScheduleFields(forms.Form):
    """Holds fields only; `schedule_of` makes a schedule of what was typed."""

    every = forms.ChoiceField(
        required=False,
        label="Data versions advance",
        choices=[
            ("", "when a steward says so"),
            (DAILY, "every day"),
            (WEEKLY, "every week"),
            (MONTHLY, "every month"),
        ],
        help_text="New check-ins count from the next version on. A schedule tells nobody when data came in.",
    )
    weekday = forms.ChoiceField(
        required=False,
        label="Day of the week",
        choices=[(day, day.capitalize()) for day in WEEKDAYS],
        help_text="For “every week”.",
    )
    day = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LAST_DAY,
        initial=1,
        label="Day of the month",
        help_text=f"1 to {LAST_DAY}, for “every month”.",
    )
    hour = forms.IntegerField(
        required=False, min_value=0, max_value=23, initial=3, label="Hour", help_text="0 to 23."
    )


class ScheduleForm(ReasonField, ScheduleFields):
    """Asks for another schedule for a dataset, and why; once valid it is in `schedule`."""

    schedule: Schedule | None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        if not self.errors:
            try:
                self.schedule = schedule_of(cleaned)
            except ParameterError as error:
                explain(self, error, SCHEDULE_FIELDS)
        return cleaned


def schedule_of(typed: dict[str, Any]) -> Schedule | None:
    """Returns the schedule; None: a steward says when. Errors: `ParameterError`."""
    every = typed["every"]
    if not every:
        return None
    return Schedule(
        every=every,
        hour=typed["hour"],
        weekday=typed["weekday"] if every == WEEKLY else None,
        day=typed["day"] if every == MONTHLY else None,
    )
