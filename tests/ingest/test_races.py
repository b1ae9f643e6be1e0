"""Several workers at once, on one dataset."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from heatmaps.ingest import receiving, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ledger import verification
from heatmaps.models import CheckIn, Upload, UploadState

WORKERS = 4


def at_once(task, arguments):
    def run(argument):
        try:
            return task(argument)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def rows_of(file, count):
    return [(f"user-{file}-{number % 9}", "", 41.5, 2 + number / count) for number in range(count)]


def test_it_reads_several_files_at_once_into_versions_of_their_own(dataset, receive):
    received = [receive(dataset, rows_of(file, 5_000)).pk for file in range(WORKERS)]
    at_once(uploads.run, received)
    assert set(Upload.objects.values_list("state", flat=True)) == {UploadState.READY}
    assert sorted(dataset.versions.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert not Upload.objects.filter(version=None).exists()
    assert CheckIn.objects.count() == WORKERS * 5_000
    assert verification.verify(dataset).ok


def test_it_reads_a_file_once_however_many_workers_were_told_to(dataset, receive):
    upload = receive(dataset, rows_of("a", 60_000))
    at_once(uploads.run, [upload.pk] * WORKERS)
    assert CheckIn.objects.count() == 60_000
    assert dataset.versions.count() == 1


def test_it_holds_the_declared_number_of_persons_when_files_end_at_once(make_dataset, receive):
    dataset = make_dataset(relation="replace", persons=20)  # two of the files fit, each has nine users
    received = [receive(dataset, rows_of(file, 2_000)).pk for file in range(WORKERS)]
    at_once(uploads.run, received)
    states = sorted(Upload.objects.values_list("state", flat=True))
    assert states == [UploadState.FAILED] * 2 + [UploadState.READY] * 2
    assert CheckIn.objects.values("person").distinct().count() == 18


def test_it_takes_one_of_several_equal_files_sent_at_once(dataset, receive):
    def send(_):
        try:
            return receive(dataset, rows_of("a", 100))
        except UploadError as error:
            return error.code

    answers = at_once(send, range(WORKERS))
    assert answers.count(receiving.DUPLICATE) == WORKERS - 1
    assert Upload.objects.count() == 1
