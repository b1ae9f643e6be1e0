"""The life of an upload: received, read under the staged upload, visible in one step, or gone."""

import re
import stat

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.http import Http404

from heatmaps import masses
from heatmaps.ingest import reading, receiving, staging, upload_files, uploads
from heatmaps.ingest import row_copy as rows
from heatmaps.ingest.errors import LeaseLost, UploadError
from heatmaps.ledger import verification
from heatmaps.models import CheckIn, Dataset, Event, Membership, Role, Upload, UploadState
from heatmaps.pseudonyms import keys
from mechanisms.space.grid import Region
from tests.ingest.conftest import REGION, csv_of, zipped
from tests.triggers import disabled

ROWS = [
    ("anna", "2026-03-02T08:00:00Z", 41.5, 2.5),
    ("anna", "", 41.25, 2.75),
    ("bob", "", 41.5, 2.5),
]
OUTSIDE = ("carla", "", 50.0, 2.5)


def stored(**filters):
    rows = CheckIn.objects.filter(**filters).order_by("cell", "person")
    return list(rows.values_list("person", "person_rest", "cell", "time", "outside"))


def raw_files(state):
    return sorted(path.name for path in (state / "uploads").iterdir())


def test_it_keeps_a_received_file_privately_and_sends_its_id(dataset, receive, state, sent):
    upload = receive(dataset, ROWS, name="C:\\data/march\x00.csv")
    path = upload_files.path_of(upload.pk)
    assert path.read_text() == csv_of(ROWS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (upload.state, upload.file_name) == (UploadState.RECEIVED, "march.csv")
    assert upload.size_bytes == path.stat().st_size
    assert sent == [("heatmaps.ingest", (str(upload.pk),))]
    assert stored() == []


def test_it_stores_the_rows_as_hashes_and_cells(dataset, upload):
    upload(dataset, ROWS)
    anna, bob = keys.PersonHasher.of(dataset).hashes(["anna", "bob"]).tolist()
    here, there = REGION.morton([41.5, 41.25], [2.5, 2.75]).tolist()
    expected = [(*anna, there, None, False), (*anna, here, 1772438400, False), (*bob, here, None, False)]
    assert sorted(stored(), key=str) == sorted(expected, key=str)


def test_it_ends_ready_without_the_file(dataset, upload, state):
    row = upload(dataset, ROWS)
    assert row.state == UploadState.READY
    assert (row.rows_accepted, row.rows_outside, row.rows_rejected) == (3, 0, 0)
    assert row.bytes_read == row.size_bytes
    assert row.lease_until is None
    assert row.finished_at is not None
    assert raw_files(state) == []


def test_it_reads_gzip(dataset, upload):
    assert upload(dataset, zipped(ROWS)).rows_accepted == 3


def test_it_advances_the_version_when_asked(dataset, upload):
    row = upload(dataset, ROWS)
    assert row.version.number == 1
    assert row.version.created_by == row.uploaded_by


def test_it_keeps_rows_back_until_the_version_is_advanced(dataset, upload, steward):
    rows = [upload(dataset, [row], advance=False) for row in ROWS]
    assert not dataset.versions.exists()
    version = uploads.advance(steward, dataset)
    assert version.number == 1
    assert {Upload.objects.get(pk=row.pk).version for row in rows} == {version}
    assert uploads.advance(steward, dataset).number == 2  # a version may change nothing


def test_it_includes_what_was_kept_back_in_the_next_version(dataset, upload):
    kept = upload(dataset, ROWS[:1], advance=False)
    last = upload(dataset, ROWS[1:])
    kept.refresh_from_db()
    assert kept.version == last.version


def test_it_does_not_include_uploads_that_are_not_ready(dataset, receive, upload):
    waiting = receive(dataset, ROWS[:1])
    upload(dataset, ROWS[1:])
    waiting.refresh_from_db()
    assert waiting.version is None


def test_it_says_the_versions_number_in_the_event_and_no_count(dataset, upload):
    upload(dataset, ROWS)
    event = Event.objects.filter(dataset=dataset).latest("sequence")
    assert (event.kind, event.before) == ("version", '{"version":0}')
    assert re.fullmatch(r'\{"commitment":"[0-9a-f]{64}","version":1\}', event.after)
    assert verification.verify(dataset).ok


def test_it_does_not_store_rows_outside_under_add_remove(dataset, upload):
    row = upload(dataset, [*ROWS, OUTSIDE])
    assert (row.rows_accepted, row.rows_outside) == (3, 1)
    assert len(stored()) == 3


def test_it_takes_a_file_with_nothing_inside_the_region(dataset, upload):
    row = upload(dataset, [OUTSIDE])
    assert (row.state, row.rows_outside) == (UploadState.READY, 1)


def test_it_clamps_rows_outside_under_replace(make_dataset, upload):
    dataset = make_dataset(relation="replace")
    row = upload(dataset, [*ROWS, OUTSIDE])
    assert (row.rows_accepted, row.rows_outside) == (3, 1)
    ((_, _, cell, _, _),) = stored(outside=True)
    assert cell == REGION.morton([42.0], [2.5])[0]


def test_it_takes_equal_users_of_several_files_for_one_person(dataset, upload):
    upload(dataset, ROWS[:1])
    upload(dataset, ROWS[1:2])
    assert len({person for person, *_ in stored()}) == 1


def test_it_takes_the_borders_for_inside(dataset, upload):
    corners = [("a", "", 41.0, 2.0), ("b", "", 42.0, 3.0)]
    assert upload(dataset, corners).rows_accepted == 2


@pytest.mark.parametrize("again", [ROWS, ROWS[::1]])
def test_it_refuses_the_same_file_twice(dataset, upload, receive, state, again):
    upload(dataset, ROWS, name="march.csv")
    with pytest.raises(UploadError, match=r"already in the dataset.*march\.csv") as caught:
        receive(dataset, again, name="april.csv")
    assert caught.value.code == receiving.DUPLICATE
    assert Upload.objects.count() == 1
    assert raw_files(state) == []


def test_it_refuses_a_file_that_still_waits_to_be_read(dataset, receive):
    receive(dataset, ROWS)
    with pytest.raises(UploadError):
        receive(dataset, ROWS)


def test_it_takes_a_file_again_after_it_failed(dataset, upload, state):
    first = upload(dataset, ROWS, name="a")
    first.state = UploadState.FAILED
    with disabled():
        first.save()
    assert upload(dataset, ROWS).state == UploadState.READY


def test_it_takes_the_same_file_for_another_dataset(dataset, make_dataset, upload):
    one, other = upload(dataset, ROWS), upload(make_dataset("other"), ROWS)
    assert one.content_digest != other.content_digest


def test_it_refuses_a_file_that_is_too_large(dataset, receive, settings, state, sent):
    settings.MAX_UPLOAD_BYTES = 10
    with pytest.raises(UploadError, match="larger than 10 bytes"):
        receive(dataset, ROWS)
    assert raw_files(state) == []
    assert not Upload.objects.exists()
    assert sent == []


@pytest.mark.parametrize(("role", "error"), [(Role.ANALYST, PermissionDenied), (None, Http404)])
def test_it_takes_files_of_stewards_only(dataset, state, role, error):
    person = User.objects.create_user("other")
    if role:
        Membership.objects.create(dataset=dataset, user=person, role=role)
    with pytest.raises(error):
        uploads.receive(person, dataset, None, name="a.csv")
    with pytest.raises(error):
        uploads.advance(person, dataset)
    assert not dataset.versions.exists()


def test_it_needs_the_datasets_key_to_receive(dataset, receive, state):
    keys.discard(dataset)
    with pytest.raises(keys.KeyMissing):
        receive(dataset, ROWS)
    assert raw_files(state) == []


def test_it_fails_readably_when_the_key_is_gone_before_reading(dataset, receive, state):
    row = receive(dataset, ROWS)
    keys.discard(dataset)
    uploads.run(row.pk)
    row.refresh_from_db()
    assert row.state == UploadState.FAILED
    assert "harbour-" in row.failure


def test_it_fails_readably_when_the_file_is_gone_before_reading(dataset, receive):
    row = receive(dataset, ROWS)
    upload_files.remove(row.pk)
    uploads.run(row.pk)
    row.refresh_from_db()
    assert "upload it again" in row.failure


def test_it_reads_a_file_once_however_often_it_is_told_to(dataset, upload):
    row = upload(dataset, ROWS)
    uploads.run(row.pk)
    assert len(stored()) == 3
    assert dataset.versions.count() == 1


def test_it_refuses_more_persons_than_were_declared_over_all_files(make_dataset, upload):
    dataset = make_dataset(relation="replace", persons=3)
    assert upload(dataset, [("a", "", 41.5, 2.5), ("b", "", 41.5, 2.5)]).state == UploadState.READY
    too_many = upload(dataset, [("c", "", 41.5, 2.5), ("d", "", 50, 2.5)])
    assert too_many.state == UploadState.FAILED
    assert "3 people were declared" in too_many.failure
    assert CheckIn.objects.count() == 2
    assert dataset.versions.count() == 1
    assert upload(dataset, [("a", "", 41.6, 2.5), ("c", "", 41.5, 2.5)]).state == UploadState.READY


def test_it_counts_again_when_another_upload_became_ready_meanwhile(make_dataset, receive, monkeypatch):
    dataset = make_dataset(relation="replace", persons=2)
    first, second = (receive(dataset, [(name, "", 41.5, 2.5) for name in names]) for names in ("ab", "bc"))
    from heatmaps.ingest.versions import advance

    check = advance._check_persons

    def check_and_be_overtaken(upload, others):
        check(upload, others)
        if upload.pk == first.pk and not others:
            uploads.run(second.pk)

    monkeypatch.setattr(advance, "_check_persons", check_and_be_overtaken)
    uploads.run(first.pk)
    states = {row.pk: row.state for row in Upload.objects.all()}
    assert states == {first.pk: UploadState.FAILED, second.pk: UploadState.READY}
    assert CheckIn.objects.values("person").distinct().count() == 2


def test_it_tells_the_progress_of_a_large_file(dataset, receive, monkeypatch):
    monkeypatch.setattr(reading, "BATCH_ROWS", 50_000)
    rows = [(f"user-{number % 50:050}", "", 41.5, 2 + number / 150_000) for number in range(120_000)]
    row = receive(dataset, rows)
    seen = []

    def look(bytes_read, size_bytes):
        seen.append((bytes_read, size_bytes, Upload.objects.get(pk=row.pk)))

    uploads.run(row.pk, progress=look)
    assert len(seen) >= 3
    assert all(saved.bytes_read == bytes_read for bytes_read, _, saved in seen)
    assert seen[0][0] < seen[-1][0] == seen[0][1] == row.size_bytes
    assert all(saved.state == UploadState.STAGED for *_, saved in seen)
    assert len({saved.lease_until for *_, saved in seen}) == len(seen)
    assert CheckIn.objects.count() == 120_000


def test_it_puts_codes_of_the_whole_region_into_the_database_and_back(dataset, upload):
    whole = Region(2.0, 41.0, 3.0, 42.0)
    rows = [(f"{number}", "", 41 + number % 7 / 7, 2 + number / 100) for number in range(100)]
    upload(dataset, rows)
    expected = whole.morton([lat for *_, lat, _ in rows], [lon for *_, lon in rows])
    assert sorted(cell for _, _, cell, *_ in stored()) == sorted(expected.tolist())


def test_check_ins_of_no_upload_are_read_by_nothing_and_found(dataset, upload, steward):
    """The table has no constraint: a COPY checks it row by row."""
    version = upload(dataset, ROWS).version
    before = masses.read(dataset, version, level=4, unit=2**20)
    assert rows.without_upload() == 0
    [extent] = version.uploads.get().extents.all()
    # Of nobody, and of somebody but not where that one's are.
    CheckIn.objects.create(extent_id=extent.pk + 1, person=1, cell=1)
    CheckIn.objects.create(extent=extent, person=1, cell=1)
    assert rows.without_upload() == 2
    after = masses.read(dataset, version, level=4, unit=2**20)
    assert after.masses.tolist() == before.masses.tolist()
    with pytest.raises(CommandError, match="belong to no upload"):
        call_command("verify-ledger")


def test_no_row_is_written_under_an_upload_that_is_gone(dataset, receive):
    """As if the row had vanished while its file is read: the lease finds none, and the block is not kept."""
    row = receive(dataset, ROWS)
    lease = staging.claim(row.pk)
    with disabled():
        Upload.objects.filter(pk=row.pk)._raw_delete("default")
    with pytest.raises(LeaseLost), lease.renewed():
        raise AssertionError("the block would be written")
    assert not CheckIn.objects.exists()


def test_it_refuses_what_makes_a_dataset_larger_than_its_size(dataset, upload):
    Dataset.objects.filter(pk=dataset.pk).update(row_capacity=4)
    upload(dataset, ROWS)

    for more in (2, 5):  # together with what is there, and by itself
        row = upload(dataset, [(f"p{at}", "", 41.5, 2.5) for at in range(more)])
        assert row.state == UploadState.FAILED
        assert "larger size" in row.failure
    assert CheckIn.objects.count() == len(ROWS)
    assert upload(dataset, [("carla", "", 41.5, 2.5)]).state == UploadState.READY
