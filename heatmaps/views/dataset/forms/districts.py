"""Provides forms of district files."""

from django import forms
from django.conf import settings

from heatmaps.districts.files import DistrictFileFacts
from heatmaps.districts.geojson import MOST_AREAS, MOST_CORNERS
from heatmaps.models import DistrictFile
from heatmaps.numbers import count, size

_PLAIN = {"autocomplete": "off"}


class DistrictFileForm(forms.Form):
    """Takes another file, or other facts of one; what a file may hold, its reader says."""

    title = forms.CharField(widget=forms.TextInput(attrs=_PLAIN), help_text="Such as Boroughs or Quarters.")
    source = forms.CharField(
        label="Source",
        widget=forms.TextInput(attrs=_PLAIN),
        help_text="Who made it, and where it can be found. It is cited beside the numbers.",
    )
    licence = forms.CharField(
        label="Licence", required=False, widget=forms.TextInput(attrs=_PLAIN), help_text="Such as CC BY 4.0."
    )
    file = forms.FileField(label="GeoJSON file", widget=forms.FileInput(attrs={"accept": ".geojson,.json"}))
    name_property = forms.CharField(
        label="Property with the names",
        required=False,
        widget=forms.TextInput(attrs=_PLAIN | {"spellcheck": "false"}),
        help_text="Such as boro_name. Empty: name, title or label. Features with one name are one district.",
    )
    is_public = forms.BooleanField(
        label="This file is public: everyone who sees a map of this dataset sees it"
    )

    def __init__(self, data: object = None, files: object = None, *, of: DistrictFile | None = None) -> None:
        facts = of and {"title": of.title, "source": of.source, "licence": of.licence}
        super().__init__(data, files, initial=facts)  # type: ignore[arg-type]  # as Django hands them out
        field = self.fields["file"]
        field.help_text = (
            f"Polygons in longitude and latitude (WGS84): up to {size(settings.MAX_DISTRICT_BYTES)}, "
            f"{count(MOST_AREAS)} districts and {count(MOST_CORNERS)} corners in all."
        )
        if of is not None:
            field.required = self.fields["is_public"].required = False
            field.label = "Another GeoJSON file in its place"

    def facts(self) -> DistrictFileFacts:
        """Returns the facts. Errors: `ParameterError` naming the field."""
        typed = self.cleaned_data
        return DistrictFileFacts(title=typed["title"], source=typed["source"], licence=typed["licence"])

    def content(self) -> bytes | None:
        """Returns the file, one byte more at most than it may have."""
        file = self.cleaned_data.get("file")
        return None if file is None else bytes(file.read(settings.MAX_DISTRICT_BYTES + 1))
