"""Asks for protection goals: sentences with three blanks each, beside those of a release."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms

from heatmaps.releases.epsilon import for_protection
from heatmaps.views.fields import DecimalText, refusal_text
from mechanisms.check import ParameterError
from mechanisms.metric.protection_planner import Wish

SENTENCES: Final = 4
_BLANKS: Final = ("part", "distance_m", "epsilon")
_LONGEST_PART: Final = 13


class WishForm(forms.Form):
    """Reads sentences "protect any … of a record moved by up to … at ε = …"; empty ones do not count.

    Its fields stand in the form of a release: `wishes` are empty where nobody planned anything.
    """

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, initial: dict[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=initial)
        self.wishes: list[Wish] = []
        for row in range(SENTENCES):
            widget = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
            boxes = (
                forms.CharField(
                    label="Protect any part of", max_length=_LONGEST_PART, required=False, widget=widget
                ),
                DecimalText(label="moved by up to", unit="m", required=False),
                DecimalText(label="at ε =", required=False),
            )
            self.fields |= dict(zip(_names(row), boxes, strict=True))

    def clean(self) -> dict[str, Any]:
        typed = super().clean() or self.cleaned_data
        for row in range(SENTENCES):
            self._read(row, typed)
        return typed

    @property
    def rows(self) -> list[list[forms.BoundField]]:
        """Returns the fields of one sentence after the other, and of one more than are used."""
        rows = [[self[name] for name in _names(row)] for row in range(SENTENCES)]
        used = [at for at, row in enumerate(rows) if any(field.value() or field.errors for field in row)]
        return rows[: max(used, default=-1) + 2]

    @property
    def is_used(self) -> bool:
        """Tells whether anything was typed, or refused."""
        return any(self[name].value() or self[name].errors for name in self.fields)

    def typed(self) -> list[tuple[str, str]]:
        """Returns (name, value) of what was typed, to be typed once more."""
        return [(name, value) for name in self.fields if (value := self[name].value())]

    def refuse(self, error: ParameterError) -> bool:
        """Puts what a release refuses of a plan beside the first sentence; False where it refuses something
        else."""
        if error.parameter not in ("part", "distance_m"):
            return False
        self.add_error(_names(0)[_BLANKS.index(error.parameter)], refusal_text(error))
        return True

    def _read(self, row: int, typed: Mapping[str, Any]) -> None:
        names = _names(row)
        texts = [typed.get(name, "").strip() for name in names]
        if not any(texts) or any(name in self.errors for name in names):
            return
        missing = [name for name, text in zip(names, texts, strict=True) if not text]
        for name in missing:
            self.add_error(name, "Fill this in, too, or leave the whole sentence empty.")
        if missing:
            return
        try:
            self.wishes.append(for_protection.wish(*texts))
        except ParameterError as error:
            self.add_error(dict(zip(_BLANKS, names, strict=True))[error.parameter], refusal_text(error))


def _names(row: int) -> list[str]:
    return [f"wish{row + 1}_{blank}" for blank in _BLANKS]
