"""An upload is taken back as long as no data version includes it."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.ingest import row_copy, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.management import closing
from heatmaps.models import CheckIn, Ledger, Membership, Upload, UploadState
from tests.triggers import disabled

ROWS = [(f"user-{number}", "", 41.5, 2.5) for number in range(300)]
BAD = ("anna", "", 91, 2.5)


@pytest.fixture
def undo(steward):
    """Undo as the steward; the row as it is then."""

    def act(row):
        uploads.undo(steward, row)
        row.refresh_from_db()
        return row

    return act


def test_it_is_out_of_sight_at_once_and_its_rows_are_deleted(dataset, upload, undo, sent, steward):
    row = upload(dataset, ROWS, advance=False)
    sent.clear()
    undo(row)
    assert (row.state, row.rows_accepted) == (UploadState.UNDONE, 0)
    assert sent == [("heatmaps.ingest", (str(row.pk),))]
    uploads.run(row.pk)
    assert not CheckIn.objects.exists()
    assert uploads.advance(steward, dataset).uploads.count() == 0


def test_it_deletes_the_list_of_rejected_rows_too(dataset, upload, undo):
    row = upload(dataset, [*ROWS, BAD], advance=False)
    assert uploads.rejected_rows_path(row)
    assert uploads.rejected_rows_path(undo(row)) is None


def test_the_same_file_may_come_again(dataset, upload, undo):
    undo(upload(dataset, ROWS, advance=False))
    again = upload(dataset, ROWS)
    assert again.state == UploadState.READY
    assert again.version.number == 1


def test_it_leaves_what_a_version_includes(dataset, upload, undo):
    row = upload(dataset, ROWS)
    with pytest.raises(UploadError, match="data version 1 includes this upload") as caught:
        undo(row)
    assert caught.value.code == "not_undoable"
    uploads.run(row.pk)
    assert CheckIn.objects.count() == 300


@pytest.mark.parametrize("state", [state for state in UploadState if state != UploadState.READY])
def test_it_undoes_ready_uploads_only(dataset, upload, undo, state):
    row = upload(dataset, ROWS, advance=False)
    with disabled():
        Upload.objects.update(state=state)
    with pytest.raises(UploadError, match=state.label):
        undo(row)


def test_the_sweep_goes_on_where_a_worker_died(dataset, upload, undo, sent, monkeypatch):
    row = undo(upload(dataset, ROWS, advance=False))
    monkeypatch.setattr(row_copy, "DELETE_ROWS", 100)
    row_copy.delete_some(row.pk)
    sent.clear()
    uploads.sweep()
    assert sent == [("heatmaps.ingest", (str(row.pk),))]
    uploads.run(row.pk)
    sent.clear()
    uploads.sweep()
    assert sent == []
    assert not CheckIn.objects.exists()


def test_it_deletes_rows_of_no_other_upload(dataset, upload, undo):
    kept = upload(dataset, ROWS[:7], advance=False)
    uploads.run(undo(upload(dataset, ROWS, advance=False)).pk)
    assert {row.extent.upload_id for row in CheckIn.objects.all()} == {kept.pk}
    assert CheckIn.objects.count() == 7


@pytest.mark.parametrize(("role", "error"), [("analyst", PermissionDenied), (None, Http404)])
def test_only_stewards_undo(dataset, upload, role, error):
    row, other = upload(dataset, ROWS, advance=False), User.objects.create_user("other")
    if role:
        Membership.objects.create(dataset=dataset, user=other, role=role)
    with pytest.raises(error):
        uploads.undo(other, row)
    assert Upload.objects.get().state == UploadState.READY


def test_persons_of_an_undone_upload_count_no_more(make_dataset, upload, undo):
    dataset = make_dataset(relation="replace", persons=300)
    undo(upload(dataset, ROWS, advance=False))
    others = [(f"other-{number}", "", 41.5, 2.5) for number in range(300)]
    assert upload(dataset, others).state == UploadState.READY


def test_a_closed_ledger_leaves_no_check_ins(dataset, upload, sent):
    """Whether or not a version includes them."""
    included, waiting = upload(dataset, ROWS), upload(dataset, [*ROWS, BAD], advance=False)
    assert uploads.rejected_rows_path(waiting)
    Ledger.objects.filter(pk=dataset.pk).delete()  # so it does not verify
    closing.close(dataset, reason="its row is gone")
    sent.clear()
    uploads.sweep()
    assert {ids for _, ids in sent} == {(str(included.pk),), (str(waiting.pk),)}
    for row in (included, waiting):
        uploads.run(row.pk)
        row.refresh_from_db()
        assert uploads.rejected_rows_path(row) is None
    assert not CheckIn.objects.exists()
    assert (included.state, included.version.number, included.rows_expired) == (UploadState.READY, 1, 300)
    assert (waiting.state, waiting.rows_accepted) == (UploadState.UNDONE, 0)
