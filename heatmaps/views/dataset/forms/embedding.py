"""Asks for the websites that may embed a dataset's public maps."""

from django import forms

from heatmaps.people.embedding import MOST_ORIGINS
from heatmaps.views.fields import ReasonField


class EmbeddingForm(ReasonField):
    """Takes other websites, and why; the list is checked by `heatmaps.people.embedding`."""

    embed_origins = forms.CharField(
        required=False,
        max_length=300 * MOST_ORIGINS,
        label="Websites",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
        help_text="One a line, such as https://news.example, without a path. A subdomain is a website of its "
        "own; wildcards are not taken. Empty: no website may embed these maps.",
    )
    field_order = ("embed_origins", "reason")

    def clean_embed_origins(self) -> list[str]:
        """Returns the lines that say something."""
        return str(self.cleaned_data["embed_origins"]).split()
