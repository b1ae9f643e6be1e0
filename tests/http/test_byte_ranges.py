"""Parts of a file, as RFC 9110 has them."""

import pytest
from django.test import RequestFactory

from heatmaps.http import byte_ranges

CONTENT = bytes(range(256)) * 4


@pytest.fixture
def ask(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)

    def answer(method="get", **headers):
        request = getattr(RequestFactory(), method)("/", headers=headers)
        return byte_ranges.answer(request, path.open("rb"), content_type="x/y", cache="public")

    return answer


def whole(answer):
    return answer.getvalue() if answer.streaming else answer.content


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-9", 0, 9),
        ("bytes=1000-", 1000, 1023),
        ("bytes=1000-99999", 1000, 1023),
        ("bytes=-5", 1019, 1023),
        ("bytes=-5000", 0, 1023),
    ],
)
def test_a_range_is_a_part(ask, asked, first, last):
    answer = ask(range=asked)
    assert (answer.status_code, answer.content) == (206, CONTENT[first : last + 1])
    assert answer["Content-Range"] == f"bytes {first}-{last}/1024"
    assert (answer["Accept-Ranges"], answer["Content-Type"]) == ("bytes", "x/y")


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=2000-3000", "bytes=-0"])
def test_a_range_beyond_the_file_is_refused(ask, asked):
    answer = ask(range=asked)
    assert (answer.status_code, answer["Content-Range"], answer.content) == (416, "bytes */1024", b"")


@pytest.mark.parametrize("asked", ["", "bytes=5-4", "bytes=0-1,3-4", "lines=0-1", "bytes=-", "bytes=1-x"])
def test_what_is_not_one_range_is_the_whole_file(ask, asked):
    answer = ask(range=asked)
    assert (answer.status_code, whole(answer)) == (200, CONTENT)


def test_no_answer_is_longer_than_a_bound(ask, monkeypatch):
    monkeypatch.setattr(byte_ranges, "MOST_BYTES", 10)
    answer = ask(range="bytes=5-")
    assert (answer["Content-Range"], answer.content) == ("bytes 5-14/1024", CONTENT[5:15])


def test_a_part_of_another_version_is_the_whole_file(ask):
    etag = ask(range="bytes=0-1")["ETag"]
    assert ask(**{"range": "bytes=0-1", "if-range": etag}).status_code == 206
    assert whole(ask(**{"range": "bytes=0-1", "if-range": '"other"'})) == CONTENT
    assert ask(**{"if-none-match": etag}).status_code == 304
    assert ask(**{"range": "bytes=0-1", "if-match": '"other"'}).status_code == 412


def test_a_head_has_the_length_and_no_content(ask):
    answer = ask("head")
    assert (answer["Content-Length"], answer.content) == ("1024", b"")
