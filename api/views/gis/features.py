"""Serves what was released as features (OGC API – Features, Part 1)."""

from typing import ClassVar, Final
from uuid import UUID

import numpy as np
from django.http import Http404, HttpResponseBase
from rest_framework.request import Request

from api.views.gis import parameters
from api.views.gis.ogc import CRS84, GEOJSON
from api.views.gis.shared import GisView, Links, published, text_answer
from api.views.shared import one_of
from heatmaps.exports import release_files
from heatmaps.exports.features import Features
from heatmaps.releases.question import data_slice_of

USUAL: Final = 1_000  # features on a page
MOST: Final = 2_000


class ItemsView(GisView):
    """Serves a page of a release's features."""

    query: ClassVar = frozenset({"bbox", "bbox-crs", "crs", "datetime", "limit", "offset"})

    def get(self, request: Request, release_id: UUID) -> HttpResponseBase:
        release = published(request, release_id)
        limit = parameters.whole(request.GET, "limit", usual=USUAL, least=1, most=MOST)
        offset = parameters.whole(request.GET, "offset", usual=0, least=0, most=10**9)
        for name in ("crs", "bbox-crs"):  # some programs name the only one that there is
            one_of(request, name, [CRS84])
        box, data_slice = parameters.box(request.GET), data_slice_of(release)
        # The time of a feature is the period that the release is about.
        in_time = parameters.meets(request.GET, data_slice.since, data_slice.until)
        with release_files.features(release).open() as stream:
            features = Features.of(stream)
            indices = features.within(box) if in_time else np.empty(0, np.int64)
            lines = features.read(indices[offset : offset + limit])
        links = Links(request)
        links.add_pages("items", (release.pk,), offset=offset, limit=limit, count=indices.size, kind=GEOJSON)
        links.add("collection", "collection", (release.pk,), title="What these features are of")
        counts = f'"numberMatched": {indices.size}, "numberReturned": {len(lines)}'
        head = f'{{"type": "FeatureCollection", {counts}, "links": {links.as_json}, "features": [\n'
        text = head.encode() + b",\n".join(lines) + b"\n]}\n"
        return text_answer(request, text, release=release, kind=GEOJSON)

    get.query = query  # type: ignore[attr-defined]  # as `api.schema.operation` does


class ItemView(GisView):
    """Serves one feature by its number."""

    def get(self, request: Request, release_id: UUID, number: int) -> HttpResponseBase:
        release = published(request, release_id)
        with release_files.features(release).open() as stream:
            features = Features.of(stream)
            if not 1 <= number <= features.count:
                raise Http404("no such feature")
            line = features.read(np.array([number - 1]))[0]
        links = Links(request)
        links.add("self", "item", (release.pk, number), kind=GEOJSON, title="This feature")
        links.add("collection", "collection", (release.pk,), title="What it is of")
        text = line.removesuffix(b"}") + f', "links": {links.as_json}}}\n'.encode()
        return text_answer(request, text, release=release, kind=GEOJSON)
