"""Describes the addresses of OGC API as OpenAPI 3.0."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_TIFF: Final = "image/tiff; application=geotiff"
_OTHERS: Final = {  # of every address
    302: "Whoever is signed in at the pages has to set up a second factor first.",
    304: "It is as it was (`If-None-Match`).",
    400: "A parameter is not known, or its value is not allowed.",
    401: "The release is not public, and no token or session was sent.",
    403: "The token lacks the scope to read.",
    404: "There is no such thing, or it is not for you.",
    405: "Addresses are read by GET and HEAD alone.",
    412: "It is not as it was (`If-Match`).",
    429: "Too many requests; `Retry-After` says when to try again.",
    500: "The program failed.",
    503: "The server is busy; `Retry-After` says when to try again.",
}
_OF_FILES: Final = {422: "It needs more memory, time or space than the server allows one file."}
_OF_RASTERS: Final = {
    **_OF_FILES,
    204: "No cell is there, or then.",
    206: "The bytes that `Range` asks for, of the whole raster.",
    416: "The raster has no such bytes.",
}
_BBOX: Final = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 6}
_CRS: Final = {"type": "string", "enum": ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"]}
_NUMBERS: Final = {"type": "integer", "minimum": 0, "default": 0}


def openapi_of(server: str) -> dict[str, Any]:
    """Describes the API. server: the address of the landing page, without a slash at its end."""
    release = [{"$ref": "#/components/parameters/collectionId"}]
    paged = [_reference("offset")]
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Hazemap, OGC API",
            "version": "1.0.0",
            "description": "Published releases as features (OGC API - Features, Part 1) and maps as rasters "
            "(OGC API - Coverages, draft 19-087).",
        },
        "servers": [{"url": server}],
        "security": [{}, {"bearer": []}],
        "paths": {
            "/": _get("getLandingPage", "Show where everything is", _object()),
            "/conformance": _get("getConformance", "List the standards that it follows", _object()),
            "/api": _get(
                "getDescription", "Describe this API", _object("application/vnd.oai.openapi+json;version=3.0")
            ),
            "/collections": _get(
                "getCollections", "List the releases that you may see", _object(), [_limit(50, 200), *paged]
            ),
            "/collections/{collectionId}": _get("getCollection", "Describe a release", _object(), release),
            "/collections/{collectionId}/items": _get(
                "getFeatures",
                "List what was released, feature by feature",
                _object("application/geo+json"),
                [*release, *map(_reference, ("bbox", "bbox-crs", "crs", "datetime", "limit")), *paged],
                _OF_FILES,
            ),
            "/collections/{collectionId}/items/{featureId}": _get(
                "getFeature",
                "Show one feature",
                _object("application/geo+json"),
                [*release, _reference("featureId")],
                _OF_FILES,
            ),
            "/collections/{collectionId}/coverage": _get(
                "getCoverage",
                "Read a map's raster, or the cells that a box touches",
                {_TIFF: {"schema": {"type": "string", "format": "binary"}}},
                [*release, _reference("bbox"), _reference("subset"), _reference("datetime")],
                _OF_RASTERS,
            ),
            "/collections/{collectionId}/schema": _get(
                "getSchema", "Describe the values of a raster", _object("application/schema+json"), release
            ),
        },
        "components": {
            "parameters": _parameters(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _parameters() -> dict[str, Any]:
    identifier = {"type": "string", "format": "uuid"}
    return {
        "collectionId": _parameter("collectionId", identifier, "A release.", place="path"),
        "featureId": _parameter("featureId", {"type": "integer", "minimum": 1}, "Its number.", place="path"),
        "limit": _limit(1_000, 2_000),
        "offset": _parameter("offset", _NUMBERS, "How many to leave out before the first."),
        "bbox": _parameter(
            "bbox", _BBOX, "West, south, east, north in degrees.", style="form", explode=False
        ),
        "bbox-crs": _parameter("bbox-crs", _CRS, "What `bbox` is in; there is one."),
        "crs": _parameter("crs", _CRS, "What coordinates are in; there is one."),
        "datetime": _parameter(
            "datetime",
            {"type": "string"},
            "A moment or start/end (RFC 3339): features whose period meets it.",
        ),
        "subset": _parameter(
            "subset",
            {"type": "string"},
            "Lat(south:north),Lon(west:east) or Lat(one) in degrees; may be repeated.",
        ),
    }


def _limit(usual: int, most: int) -> dict[str, Any]:
    allowed = {"type": "integer", "minimum": 1, "maximum": most, "default": usual}
    return _parameter("limit", allowed, "How many at most; what is above the maximum is the maximum.")


def _parameter(
    name: str, schema: Mapping[str, Any], about: str, *, place: str = "query", **more: Any
) -> dict[str, Any]:
    parameter = {
        "name": name,
        "in": place,
        "description": about,
        "required": place == "path",
        "schema": schema,
    }
    return {**parameter, **more}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/parameters/{name}"}


def _object(media_type: str = "application/json") -> dict[str, Any]:
    return {media_type: {"schema": {"type": "object"}}}


def _get(
    operation: str,
    summary: str,
    content: Mapping[str, Any],
    parameters: Sequence[Mapping[str, Any]] = (),
    more: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """Describes reading an address. more: statuses beside those of every address."""
    statuses = sorted((_OTHERS | dict(more or {})).items())
    answers = {"200": {"description": "As asked for.", "content": content}}
    answers |= {str(status): {"description": about} for status, about in statuses}
    return {
        "get": {
            "operationId": operation,
            "summary": summary,
            "parameters": [*parameters],
            "responses": answers,
        }
    }
