"""Lets scripts and pages of other websites read an answer that everybody may read."""

from typing import Final

from django.http import HttpResponseBase

SHOWN: Final = "shown_elsewhere"  # attribute of an answer, for `heatmaps.front.headers`
_READABLE: Final = "Accept-Ranges, Content-Range, ETag"  # headers, for scripts that read files in parts


def show(answer: HttpResponseBase) -> None:
    """Shows only what anybody gets without cookie and token: no website reads by its reader's rights.

    `*` is no permission for requests with credentials: browsers refuse to hand such answers over.
    """
    answer["Access-Control-Allow-Origin"] = "*"
    answer["Access-Control-Expose-Headers"] = _READABLE
    vars(answer)[SHOWN] = True
