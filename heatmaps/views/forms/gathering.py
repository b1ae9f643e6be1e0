"""What forms share that gather zones or places: as GeoJSON typed, as a file, or one by one."""

from typing import Any, ClassVar, Self

from django import forms
from django.core.exceptions import ValidationError

from heatmaps.releases import ReleaseRequest
from heatmaps.views.forms.period import PERIOD_FIELDS, PeriodForm
from heatmaps.views.forms.shared import DecimalText, explain, refusal_text
from mechanisms.asked import LONGEST_NAME, LONGEST_TEXT, PER_DEGREE, check_name
from mechanisms.check import ParameterError, exact_decimal

_TOO_LONG_FILE = f"up to {LONGEST_TEXT:,} bytes"


class GatheringForm(PeriodForm):
    """Shape only: what the mechanism allows is checked when it is quoted.

    A subclass has a text field named as its `parameter`, and boxes for one thing more.
    """

    mechanism: ClassVar[str]
    address: ClassVar[str]  # name of its page
    template: ClassVar[str]
    parameter: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ()  # further parameters, which may be left empty
    collection: ClassVar[Any]  # of what is gathered: `Zones` or `Places`
    one: ClassVar[str]  # of these, in a word
    nothing_yet: ClassVar[str]

    file = forms.FileField(
        label="A GeoJSON file", required=False, help_text="What is in it is added to those below."
    )
    epsilon = DecimalText(
        label="ε of this release",
        help_text="The loss when one person’s whole record moves by the dataset’s radius.",
    )

    def boxed(self, typed: dict[str, Any], number: int) -> list[Any]:
        """What the boxes say: one thing or none. Errors: `ParameterError` naming a box."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Puts everything that was given together, in the one spelling."""
        typed = super().clean() or self.cleaned_data
        try:
            found = self._typed(typed.get(self.parameter, "")) + self._filed(typed.get("file"))
            self._keep(found)
            found += self.boxed(typed, len(found) + 1)
            self.found = self.collection(tuple(found)) if found else None
        except ParameterError as error:
            self.found = None
            self.explain(error)
        if self.found is None and not self.errors:
            self.add_error(self.parameter, self.nothing_yet)
        return typed

    def explain(self, error: ParameterError) -> None:
        """Put a refusal beside the field it is about."""
        explain(self, error, {"resolution": self.parameter})

    def gathered(self) -> Self:
        """The same with everything in the text, and empty boxes for the next."""
        return type(self)(initial=dict(self.typed()))

    def at(self, epsilon: str) -> Self:
        """The same question at another ε."""
        filled = type(self)(dict(self.typed()) | {"epsilon": epsilon})
        filled.full_clean()
        return filled

    def request(self) -> ReleaseRequest:
        """What was asked for, once the form is valid."""
        others = {name: self.cleaned_data[name] for name in self.others if self.cleaned_data[name]}
        return ReleaseRequest(
            mechanism=self.mechanism,
            epsilon=self.cleaned_data["epsilon"],
            parameters={self.parameter: self.found, **others},
            since=self.moment("since"),
            until=self.moment("until"),
        )

    def typed(self) -> list[tuple[str, str]]:
        """(name, value) of what was asked for, to be asked for once more when it is paid."""
        kept = ((name, self.cleaned_data[name]) for name in (*self.others, "epsilon", *PERIOD_FIELDS))
        return [(self.parameter, self._text), *kept]

    def _keep(self, found: list[Any]) -> None:
        """In the text, for a form that is shown once more: no browser fills in a chosen file again."""
        if self.cleaned_data.get("file"):
            self.data = dict(self.data.items()) | {self.parameter: self.collection(tuple(found)).text}

    @property
    def _text(self) -> str:
        return self.found.text if self.found else ""

    def _typed(self, text: str) -> list[Any]:
        return list(self.collection.parse(text)) if text.strip() else []

    def _filed(self, file: Any) -> list[Any]:
        if file is None:
            return []
        if (file.size or 0) > LONGEST_TEXT:
            raise ParameterError("file", "a longer file", _TOO_LONG_FILE)
        try:
            return list(self.collection.parse(file.read().decode("utf-8-sig")))
        except (UnicodeDecodeError, ParameterError) as error:
            allowed = error.allowed if isinstance(error, ParameterError) else "GeoJSON in UTF-8"
            raise ParameterError("file", "this file", allowed) from None


def name_box(label: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(
        label=label, required=False, max_length=LONGEST_NAME, widget=widget, validators=[_check_name]
    )


def _check_name(name: str) -> None:
    try:
        check_name("name", name)
    except ParameterError as error:
        raise ValidationError(refusal_text(error), code="invalid") from None


def geojson_box(label: str, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"})
    return forms.CharField(
        label=label, required=False, max_length=LONGEST_TEXT, widget=widget, help_text=help_text
    )


def whole_degrees(typed: dict[str, Any], box: str, most: int) -> int:
    """Of a box, in the parts that are stored. Errors: `ParameterError` naming it."""
    return round(exact_decimal(box, typed.get(box) or "nothing", low=-most, high=most) * PER_DEGREE)
