"""What the words mean; and names of places for the maps."""

from dataclasses import asdict
from fractions import Fraction
from typing import Final

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from heatmaps.exports import FORMATS, FORMATS_OF
from heatmaps.maps.places import find_places, places_in
from heatmaps.wording import choosing
from heatmaps.wording.guarantee import RELATIONS, factor, right_guesses
from mechanisms import catalogue
from mechanisms.check import ParameterError
from mechanisms.grid import Region
from mechanisms.local import choices

MOST_PLACES: Final = 80
MOST_FOUND: Final = 8
EXAMPLES: Final = ("0.1", "0.5", "1", "2", "4", "10")  # of ε


@login_not_required
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    context = {
        "section": "help",
        "relations": {key.value: text for key, text in RELATIONS.items()},
        "formats": FORMATS.values(),
        "point_formats": FORMATS_OF["centroid"].values(),
        "trusted": [(entry, choosing.who(entry)) for entry in catalogue.entries()],
        "blurred": choices.entries(),
        "examples": [_example(text) for text in EXAMPLES],
    }
    return render(request, "help.html", context)


@require_safe
@cache_control(private=True, max_age=86400)
def places(request: HttpRequest) -> JsonResponse:
    """Public place names: those in a box (`bbox=west,south,east,north`) or with a name (`name=`)."""
    if "name" in request.GET:
        found = find_places(request.GET["name"][:80], most=MOST_FOUND)
        return JsonResponse({"places": [asdict(place) for place in found]})
    try:
        region = Region.parse(request.GET.get("bbox", ""))
    except ParameterError as error:
        return JsonResponse({"error": str(error)}, status=400)
    return JsonResponse({"places": [asdict(place) for place in places_in(region, most=MOST_PLACES)]})


def _example(text: str) -> dict[str, str]:
    epsilon = Fraction(text)
    return {"epsilon": text, "factor": factor(epsilon), "right": right_guesses(epsilon, Fraction(0))}
