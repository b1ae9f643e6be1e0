"""Serves place names: those in a box, and those that somebody searches."""

from dataclasses import asdict
from typing import Final

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from heatmaps.http.rate_limits import limited_visits
from heatmaps.maps.place_search import FoundPlace, find_places
from heatmaps.places.whereabouts import places_in
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

MOST_PLACES: Final = 80
MOST_FOUND: Final = 8


@require_safe
@cache_control(private=True, max_age=86400)
def places(request: HttpRequest) -> JsonResponse:
    """Lists the greatest places in a box (`bbox=west,south,east,north`)."""
    try:
        region = Region.parse(request.GET.get("bbox", ""))
    except ParameterError as error:
        return JsonResponse({"error": str(error)}, status=400)
    return JsonResponse({"places": [asdict(place) for place in places_in(region, most=MOST_PLACES)]})


# By POST, as addresses are kept in histories and in proxies’ logs. It changes nothing: any page may send it.
@login_not_required
@csrf_exempt
@limited_visits
@require_POST
@never_cache
def place_search(request: HttpRequest) -> JsonResponse:
    """Finds places named `text`, those in the `region` (west,south,east,north), if there is one, first."""
    bounds = request.POST.get("region", "")
    try:
        region = Region.parse(bounds) if bounds else None
    except ParameterError as error:
        return JsonResponse({"error": str(error)}, status=400)
    matches = find_places(request.POST.get("text", ""), most=MOST_FOUND, region=region)
    return JsonResponse({"places": [_match_json(match) for match in matches]})


def _match_json(match: FoundPlace) -> dict[str, object]:
    place = match.place
    return {
        "name": place.name,
        "area": place.area,
        "also": match.also,
        "lat": place.lat,
        "lon": place.lon,
        "inside": match.inside,
        "extent": list(match.extent),
    }
