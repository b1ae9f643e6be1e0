"""Shows how far a map of made-up people would be blurred, before one of real people is asked for."""

from django.http import FileResponse, Http404, HttpResponseBase
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from heatmaps.exports import example_map
from heatmaps.http import attempt_limits
from heatmaps.http.rate_limits import come_again
from heatmaps.maps.looks import LIGHT, LOOKS
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.views.requests import PersonRequest


@require_safe
def example_picture(request: PersonRequest, slug: str) -> HttpResponseBase:
    """Serves a PNG for `mechanism`, `epsilon`, `resolution` and `look`; of the dataset it shows public facts
    alone."""
    dataset = dataset_for(request.user, slug, Act.RELEASE)
    example = example_map.example(dataset, request.GET.dict())
    look = request.GET.get("look", LIGHT.name)
    if example is None or look not in LOOKS:
        raise Http404("no such example")
    is_drawn = example_map.is_kept(example, look=look)
    if not is_drawn and (wait := attempt_limits.example(request.user.pk)):
        return come_again(request, wait, files=True)
    answer = FileResponse(example_map.opened(example, look=look), content_type="image/png")
    patch_cache_control(answer, private=True, max_age=3600)
    return answer
