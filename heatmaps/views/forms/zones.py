"""The form that asks for shares in zones: GeoJSON typed, as a file, or gathered rectangle by rectangle."""

from typing import Any, Final

from django import forms

from heatmaps.releases import ReleaseRequest
from heatmaps.slices import EDGES
from heatmaps.views.forms.shared import DecimalText, explain
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.zones import LONGEST_NAME, LONGEST_TEXT, MOST_ZONES, PER_DEGREE, Zone, Zones

MECHANISM: Final = "emd-zones"
_TOO_LONG: Final = f"At most {LONGEST_TEXT:,} characters."
_PARAMETERS: Final = {"resolution": "zones"}


def _edge() -> forms.CharField:
    widget = forms.NumberInput(attrs={"step": "any", "autocomplete": "off"})
    return forms.CharField(max_length=40, required=False, widget=widget)


class ZonesForm(forms.Form):
    """Shape only: what the mechanism allows is checked when it is quoted."""

    west, south, east, north = (_edge() for _ in EDGES)
    zone_name = forms.CharField(
        label="Name of the rectangle",
        required=False,
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    file = forms.FileField(
        label="Zones from a GeoJSON file", required=False, help_text="They are added to those below."
    )
    zones = forms.CharField(
        label="Zones",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
        help_text=f"GeoJSON: up to {MOST_ZONES} polygons without holes, in degrees, named by their property "
        "“name”; or as this page writes them. Zones are public: draw them without looking at the data.",
    )
    margin_m = DecimalText(
        label="Soft edge",
        required=False,
        help_text="A check-in outside a zone counts less and less over so many metres. Wider takes less "
        "noise. Left empty: twice the dataset’s radius.",
    )
    epsilon = DecimalText(
        initial="1",
        label="ε of this release",
        help_text="The loss when one person’s whole record moves by the dataset’s radius.",
    )

    def clean(self) -> dict[str, Any]:
        """Puts everything that was given together, in the one spelling."""
        typed = super().clean() or self.cleaned_data
        try:
            found = _typed(typed.get("zones", "")) + _filed(typed.get("file"))
            found += [_rectangle(typed, len(found) + 1)] if any(typed.get(edge) for edge in EDGES) else []
            self.found = Zones(tuple(found)) if found else None
        except ParameterError as error:
            self.found = None
            self.explain(error)
        if self.found is None and not self.errors:
            self.add_error(
                "zones", "Draw a rectangle, choose a file, or paste GeoJSON: there is no zone yet."
            )
        return typed

    def explain(self, error: ParameterError) -> None:
        """Put a refusal beside the field it is about."""
        explain(self, error, _PARAMETERS)

    def gathered(self) -> "ZonesForm":
        """The same with all zones in the text, and empty boxes for the next rectangle."""
        kept = {name: self.cleaned_data[name] for name in ("margin_m", "epsilon")}
        return ZonesForm(initial={**kept, "zones": self.found.text if self.found else ""})

    def request(self) -> ReleaseRequest:
        """What was asked for, once the form is valid."""
        margin_m = self.cleaned_data["margin_m"]
        return ReleaseRequest(
            mechanism=MECHANISM,
            epsilon=self.cleaned_data["epsilon"],
            parameters={"zones": self.found, **({"margin_m": margin_m} if margin_m else {})},
        )

    def typed(self) -> list[tuple[str, str]]:
        """(name, value) of what was asked for, to be asked for once more when it is paid."""
        text = self.found.text if self.found else ""
        return [("zones", text), *((name, self.cleaned_data[name]) for name in ("margin_m", "epsilon"))]


def _typed(text: str) -> list[Zone]:
    return list(Zones.parse(text)) if text.strip() else []


def _filed(file: Any) -> list[Zone]:
    if file is None:
        return []
    if (file.size or 0) > LONGEST_TEXT:
        raise ParameterError("file", "a longer file", f"up to {LONGEST_TEXT:,} bytes")
    try:
        return list(Zones.parse(file.read().decode("utf-8-sig")))
    except (UnicodeDecodeError, ParameterError) as error:
        allowed = error.allowed if isinstance(error, ParameterError) else "GeoJSON in UTF-8"
        raise ParameterError("file", "this file", allowed) from None


def _rectangle(typed: dict[str, Any], number: int) -> Zone:
    """Of the four boxes."""
    degrees = {}
    for edge in EDGES:
        most = 180 if edge in ("west", "east") else 90
        degrees[edge] = round(
            exact_decimal(edge, typed.get(edge) or "nothing", low=-most, high=most) * PER_DEGREE
        )
    west, south, east, north = (degrees[edge] for edge in EDGES)
    if west >= east or south >= north:
        raise ParameterError("east" if west >= east else "north", "this", "more than its other side")
    corners = ((west, south), (east, south), (east, north), (west, north))
    return Zone(name=typed.get("zone_name") or f"Zone {number}", corners=corners)
