"""Keeps district files, and adds published maps up in them and in areas that somebody sends."""

import io
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.parsers import GeoJsonFile
from api.permissions import HasScopeOrPublic
from api.refusals import TooLarge
from api.schema import LOCATION, OPEN, example, gone, listing, operation
from api.serializers.districts import AreasOut, DistrictFileChangeIn, DistrictFileOut
from api.throttles import AreasThrottle, PublicThrottle, TokenThrottle
from api.views.shared import ApiView, body
from heatmaps import queries
from heatmaps.districts import files
from heatmaps.districts.files import DistrictFileFacts
from heatmaps.exports import district_sums
from heatmaps.exports.district_sums import Sums
from heatmaps.http import caching
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for

_FACTS: Final = {
    "title": "What people call it.",
    "source": "Where it was taken from, as it is cited.",
    "licence": "Its licence.",
    "name_property": "Which property has the names; without it `name`, `title` or `label`.",
}
_REPLACES: Final = "replaces"
_STORING: Final = [
    *(OpenApiParameter(name, OpenApiTypes.STR, description=text) for name, text in _FACTS.items()),
    OpenApiParameter(
        _REPLACES, OpenApiTypes.UUID, description="A stored file that this one takes the place of."
    ),
    LOCATION,
]
_DISTRICTS: Final = OpenApiParameter(
    "districts", OpenApiTypes.UUID, required=True, description="A district file of the dataset."
)
_SENT: Final = dict.fromkeys(GeoJsonFile.types, OpenApiTypes.BINARY)
_CSV: Final = {(200, "text/csv"): OpenApiResponse(OpenApiTypes.BINARY, "A line an area.")}


@takes_up_to(lambda: settings.MAX_DISTRICT_BYTES)
class DistrictsView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    parser_classes = [GeoJsonFile]

    @listing("districts_list", DistrictFileOut)
    def get(self, request: Request, slug: str) -> Response:
        """List a dataset's district files. By title."""
        dataset = dataset_for(request.user, slug)
        return pagination.page(
            request, files.files_of(dataset), lambda row: answers.district_file(request, dataset, row)
        )

    @operation(
        "districts_create", DistrictFileOut, (404, 422), status=201, parameters=_STORING, request=_SENT
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store a public district file. The body is GeoJSON polygons with names, at most 1,000 districts with
        10,000 corners. Everyone who sees a map of the dataset sees it. `title` and `source` are required,
        unless it `replaces` another file, whose title, source and licence it keeps."""
        dataset = dataset_for(request.user, slug, Act.KEEP_DISTRICTS)
        query, content = request.query_params, _body(request, settings.MAX_DISTRICT_BYTES)
        named = query.get("name_property", "")
        if _REPLACES in query:
            old = files.file_of(dataset, _uuid(request, _REPLACES))
            facts = _facts({name: query.get(name, getattr(old, name)) for name in _FACTS})
            file = files.change(request.user, old, facts, content, name_property=named)
        else:
            facts = _facts({name: query.get(name, "") for name in _FACTS})
            file = files.store(request.user, dataset, content, facts, name_property=named)
        answer = answers.district_file(request, dataset, file)
        return Response(answer, 201, headers={"Location": answer["links"]["self"]})


class DistrictView(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD, "DELETE": Scope.STEWARD}

    @operation("districts_read", DistrictFileOut, (404,))
    def get(self, request: Request, slug: str, file_id: UUID) -> Response:
        """Show a district file's facts."""
        dataset = dataset_for(request.user, slug)
        return Response(answers.district_file(request, dataset, files.file_of(dataset, file_id)))

    @operation(
        "districts_change",
        DistrictFileOut,
        (404, 422),
        request=DistrictFileChangeIn,
        examples=[example({"title": "Quarters"})],
    )
    def patch(self, request: Request, slug: str, file_id: UUID) -> Response:
        """Change title, source or licence of a district file."""
        dataset = dataset_for(request.user, slug, Act.KEEP_DISTRICTS)
        old, fields = files.file_of(dataset, file_id), body(request, DistrictFileChangeIn)
        facts = {name: getattr(old, name) for name in _FACTS}
        changed = files.change(request.user, old, _facts(facts | fields))
        return Response(answers.district_file(request, dataset, changed))

    @operation("districts_delete", gone(), (404,))
    def delete(self, request: Request, slug: str, file_id: UUID) -> Response:
        """Delete a district file. This cannot be undone; maps stay as they are."""
        dataset = dataset_for(request.user, slug, Act.KEEP_DISTRICTS)
        files.delete(request.user, files.file_of(dataset, file_id))
        return Response(status=204)


class OpenReleaseView(ApiView):
    """Answers about a release that may be public."""

    scopes = {"GET": Scope.READ, "POST": Scope.READ}
    permission_classes = [HasScopeOrPublic]
    throttle_classes = [TokenThrottle, PublicThrottle]


class ReleaseDistrictsView(OpenReleaseView):
    @listing("releases_districts", DistrictFileOut, auth=OPEN)
    def get(self, request: Request, release_id: UUID) -> Response:
        """List the district files that fit a published release. A public release needs no token."""
        release = queries.published_for(request.user, release_id)
        rows = files.files_of(release.dataset)
        answer = pagination.page(request, rows, lambda row: answers.district_file_of(request, release, row))
        caching.mark(answer, request.user, release, by="Authorization")
        return answer


class ReleaseDistrictView(OpenReleaseView):
    @operation(
        "releases_district",
        {(200, GeoJsonFile.types[0]): OpenApiResponse(OpenApiTypes.OBJECT, "The file.")},
        (404,),
        auth=OPEN,
    )
    def get(self, request: Request, release_id: UUID, file_id: UUID) -> HttpResponse:
        """Download a district file. GeoJSON with the property `name`. A public release needs no token."""
        release = queries.published_for(request.user, release_id)
        file = files.file_of(release.dataset, file_id)
        answer = HttpResponse(files.geojson_of(file), content_type=GeoJsonFile.types[0])
        caching.mark(answer, request.user, release, by="Authorization")
        return answer


class AreasView(OpenReleaseView):
    """Adds up people in areas of a published map."""

    parser_classes = [GeoJsonFile]
    throttle_classes = [TokenThrottle, PublicThrottle, AreasThrottle]

    @operation("releases_areas", AreasOut, (404, 422), auth=OPEN, parameters=[_DISTRICTS])
    def get(self, request: Request, release_id: UUID) -> HttpResponse:
        """Add up a published map in stored districts. Sums have errors. Costs no budget: only the published
        map is read. A public release needs no token."""
        return self._of_file(request, release_id)

    @operation("releases_areas_sent", AreasOut, (404, 422), request=_SENT)
    def post(self, request: Request, release_id: UUID) -> HttpResponse:
        """Add up a published map in your own areas. The body is GeoJSON polygons with at most 10,000 corners,
        which are not stored. Otherwise as GET."""
        return self._of_body(request, release_id)

    def _of_file(self, request: Request, release_id: UUID) -> HttpResponse:
        release = queries.published_for(request.user, release_id)
        file = files.file_of(release.dataset, _uuid(request, "districts"))
        answer = self.answer(district_sums.sums_of_file(release, file))
        caching.mark(answer, request.user, release, by="Authorization")
        return answer

    def _of_body(self, request: Request, release_id: UUID) -> HttpResponse:
        release = queries.published_for(request.user, release_id)
        content = _body(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        return self.answer(district_sums.sums_of(release, content))

    def answer(self, sums: Sums) -> HttpResponse:
        """Answers as JSON."""
        return Response(AreasOut(sums).data)


class AreasCsvView(AreasView):
    """Answers with the same as a table."""

    @operation("releases_areas_csv", _CSV, (404, 422), auth=OPEN, parameters=[_DISTRICTS])
    def get(self, request: Request, release_id: UUID) -> HttpResponse:
        """Add up a published map in stored districts, as CSV. Columns: area, people, within (the truth lies
        this near, 19 times in 20), share, covered."""
        return self._of_file(request, release_id)

    @operation("releases_areas_sent_csv", _CSV, (404, 422), request=_SENT)
    def post(self, request: Request, release_id: UUID) -> HttpResponse:
        """Add up a published map in your own areas, as CSV. As `areas/` otherwise."""
        return self._of_body(request, release_id)

    def answer(self, sums: Sums) -> HttpResponse:
        """Answers as CSV."""
        stream = io.BytesIO()
        district_sums.write_csv(sums, stream)
        return HttpResponse(stream.getvalue(), content_type="text/csv; charset=utf-8")


def _facts(texts: dict[str, Any]) -> DistrictFileFacts:
    return DistrictFileFacts(title=texts["title"], source=texts["source"], licence=texts["licence"])


def _body(request: Request, most: int) -> bytes:
    """Reads the body. Errors: TooLarge; an empty one is refused by whoever reads it."""
    stream = request.data
    if body_length(request) > most:
        raise TooLarge(most)
    content = bytes(stream.read(most + 1)) if hasattr(stream, "read") else b""
    if len(content) > most:
        raise TooLarge(most)
    return content


def _uuid(request: Request, name: str) -> UUID:
    try:
        return UUID(request.query_params[name])
    except KeyError:
        raise ValidationError({name: "this parameter is required"}) from None
    except ValueError:
        raise ValidationError({name: "expected a UUID"}) from None
