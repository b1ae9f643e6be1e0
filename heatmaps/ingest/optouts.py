"""People who opted out: a keyed entry each, which takes effect with the next data version, for good.

Nothing tells whether they were in the data: entering somebody who was not looks the same. Published
releases, and versions made before, stay as they are.
"""

from collections.abc import Iterable
from typing import BinaryIO, Final

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from heatmaps import keys
from heatmaps.access import Act, Person, require
from heatmaps.ingest.columns import is_text
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.lines import Lines, ReaderLimits
from heatmaps.models import Dataset, Suppression

MOST_AT_ONCE: Final = 100_000

_LIMITS: Final = ReaderLimits(line_length=1000, total_bytes=2**24)


def opt_out(person: Person, dataset: Dataset, users: Iterable[str]) -> int:
    """Leave these users (as the files name them) out from the next data version on.

    Returns how many entries are new. Errors: as `access.require`; `keys.KeyFileError`; `UploadError` for no
    users, or more than `MOST_AT_ONCE`.
    """
    require(person, dataset, Act.UPLOAD)
    if isinstance(person, AnonymousUser):  # `require` let nobody unknown pass; types do not know that
        raise PermissionDenied("sign in")
    names = _checked(users)
    hashes = set(keys.person_hashes(keys.load(dataset), names).tolist())
    before = dataset.suppressions.count()
    Suppression.objects.bulk_create(
        (Suppression(dataset=dataset, person=number, created_by=person) for number in sorted(hashes)),
        batch_size=1000,
        ignore_conflicts=True,
    )
    return dataset.suppressions.count() - before


def users_of(stream: BinaryIO) -> list[str]:
    """The users of a text file, one a line. Errors: `ReaderError`, `UploadError`."""
    return _checked(Lines(stream, _LIMITS))


def pending(dataset: Dataset) -> int:
    """Data: for stewards only. Entries that wait for the next version."""
    return dataset.suppressions.filter(version=None).count()


def _checked(users: Iterable[str]) -> list[str]:
    """As the reader takes them: without blanks around."""
    names = dict[str, None]()
    for user in users:
        if name := user.strip():
            names[name] = None
        if len(names) > MOST_AT_ONCE:
            raise UploadError("too_many_users", f"at most {MOST_AT_ONCE} users at once; split the list")
    if not names:
        raise UploadError("no_users", "enter at least one user, as the files name them, one a line")
    if not is_text(list(names)):
        raise UploadError("not_text", "the list is not text in UTF-8")
    return list(names)
