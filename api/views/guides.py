"""Lists the public maps that a dataset's releases may begin from, and stores guide files."""

from pathlib import Path
from typing import Final

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.parsers import FileForm
from api.refusals import TooLarge
from api.schema import listing, operation
from api.serializers.guides import GuideFileIn, GuideFileOut, GuideOut
from api.throttles import GuidesThrottle, TokenThrottle
from api.views.shared import ApiView, body
from heatmaps.data_slice import WHOLE
from heatmaps.guides import choices, files, raster
from heatmaps.guides.files import GuideFileFacts
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for, member_of
from mechanisms.check import ParameterError

_FORM_BYTES: Final = 64 * 1024  # what a form takes beside its file
_LARGEST: Final = raster.MOST_BYTES + _FORM_BYTES


@takes_up_to(lambda: _LARGEST)
class GuidesView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    parser_classes = [FileForm]
    throttle_classes = [TokenThrottle, GuidesThrottle]

    @listing("guides_list", GuideOut)
    def get(self, request: Request, slug: str) -> Response:
        """List guides for maps of the whole region. The dataset's published maps, its guide files, and public
        maps of other datasets of the same region; of each the newest first, at most 20."""
        dataset = dataset_for(request.user, slug)
        member = bool(member_of(request.user, [dataset.pk]))
        return pagination.page(
            request,
            choices.fitting(dataset, WHOLE),
            lambda start: answers.guide(dataset, start, start.guide.sha256, member=member),
        )

    @operation(
        "guides_create",
        GuideFileOut,
        (404, 409, 422),
        status=201,
        request={"multipart/form-data": GuideFileIn},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store a public map as a guide. Only before the dataset's first upload. The file is a GeoTIFF of at
        most 64 MiB, three a minute; it is public and is never changed or deleted. The ledger keeps its title,
        its source and the SHA-256 of the file."""
        dataset = dataset_for(request.user, slug, Act.KEEP_GUIDES)
        if body_length(request) > _LARGEST:
            raise TooLarge(raster.MOST_BYTES)
        if len(request.FILES.getlist("file")) > 1:
            raise ValidationError({"file": "expected one file"})
        if not request.FILES.getlist("file"):  # an empty one is none: well formed, as the schema says
            raise ParameterError("file", "nothing", raster.ALLOWED)
        fields = body(request, GuideFileIn)
        facts = GuideFileFacts(
            title=fields["title"], source=fields["source"], licence=fields.get("licence", "")
        )
        path = Path(fields["file"].temporary_file_path())
        return Response(answers.guide_file(files.store(request.user, dataset, path, facts)), 201)
