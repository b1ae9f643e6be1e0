"""HEAD is answered with the headers of GET and nothing else; the test client of Django would hide a body."""

import io

import pytest
from django.http import FileResponse, HttpResponse
from django.test import RequestFactory

from heatmaps.front.heads import drop_bodies


def answered(method, response):
    return drop_bodies(lambda _: response)(getattr(RequestFactory(), method)("/"))


@pytest.mark.parametrize(
    "make", [lambda: HttpResponse(b"x" * 10), lambda: FileResponse(io.BytesIO(b"x" * 10))]
)
def test_a_head_has_the_length_and_no_body(make):
    response = make()
    head = answered("head", response)
    assert (b"".join(head), head["Content-Length"]) == (b"", "10")
    assert getattr(head, "file_to_stream", None) is None  # which servers send by themselves
    assert b"".join(answered("get", make())) == b"x" * 10


def test_a_length_that_was_said_stays():
    response = HttpResponse(headers={"Content-Length": "33"})
    assert answered("head", response)["Content-Length"] == "33"
