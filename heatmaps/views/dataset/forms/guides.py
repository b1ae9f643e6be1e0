"""Takes guide files."""

from django import forms

from heatmaps.guides.files import GuideFileFacts
from heatmaps.guides.raster import MOST_BYTES
from heatmaps.numbers import size

_PLAIN = {"autocomplete": "off"}


class GuideFileForm(forms.Form):
    """Takes a file to start from; what it may hold, its reader says."""

    file = forms.FileField(
        label="GeoTIFF file",
        widget=forms.FileInput(attrs={"accept": ".tif,.tiff"}),
        help_text=f"Its pixels hold numbers of people, or of anything like it: up to {size(MOST_BYTES)}.",
    )
    title = forms.CharField(widget=forms.TextInput(attrs=_PLAIN), help_text="Such as Built-up area.")
    source = forms.CharField(
        widget=forms.TextInput(attrs=_PLAIN),
        help_text="Who made it, and where it can be found. It is cited with each map.",
    )
    licence = forms.CharField(
        required=False, widget=forms.TextInput(attrs=_PLAIN), help_text="Such as CC BY 4.0."
    )
    is_public = forms.BooleanField(
        label="This file is public. It was not made from these people, or is a map of Hazemap"
    )

    def facts(self) -> GuideFileFacts:
        """Returns the facts. Errors: `ParameterError` naming the field."""
        typed = self.cleaned_data
        return GuideFileFacts(title=typed["title"], source=typed["source"], licence=typed["licence"])
