"""What a child that plans answers: only known values come of it, whatever it sends."""

import json
from dataclasses import replace
from fractions import Fraction
from io import BytesIO

import pytest

from heatmaps.children import messages, planner
from heatmaps.children.calibrated import Refused
from heatmaps.children.messages import MessageError
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from tests.children.questions import NAMES, question

ASKED = question("exponential")
CHOSEN = ("calibrated", "chosen", "spacing_m")
GUARANTEE = ("calibrated", "guarantee")
TERM = (*GUARANTEE, "terms", 0)
ERROR = ("calibrated", "expected_error")
ALONE = (*GUARANTEE, "if_shuffler_fails")


@pytest.fixture(scope="module")
def honest():
    answer = ASKED.answer()
    content = messages.answer_bytes(ASKED, answer)
    assert messages.answer_from(ASKED, json.dumps(json.loads(content)).encode()) == answer
    return content


@pytest.mark.parametrize("name", NAMES)
def test_a_question_comes_back_to_the_bit(name):
    asked = question(name, epsilon=Fraction(2**200, 3**126), resolution=256)
    returned = messages.question_from(messages.question_bytes(asked))

    assert repr(returned) == repr(asked)


def test_parameters_of_people_come_back_as_they_are():
    given = {"half": Fraction(1, 2), "text": "1e-3", "\ud800": [None, True, -0.0, 10**50, {"exact": [1, 2]}]}
    asked = replace(ASKED, parameters=given)
    returned = messages.question_from(messages.question_bytes(asked))

    assert repr(returned) == repr(asked)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_that_a_form_parsed_come_back_as_they_are(name):
    asked = question(name)
    asked = replace(asked, parameters=registry.get(name).parsed(asked.parameters))
    returned = messages.question_from(messages.question_bytes(asked))

    assert repr(returned) == repr(asked)


@pytest.mark.parametrize("name", ["radius_m", "no such name", "<b>\n\ud800" + "x" * 5_000])
def test_a_refusal_comes_back(name):
    asked = replace(ASKED, parameters={name: "1"})
    refused = messages.answer_from(asked, messages.answer_bytes(asked, asked.answer()))

    with pytest.raises(ParameterError) as here:
        asked.built()
    assert isinstance(refused, Refused)
    assert (refused.value, refused.allowed) == (here.value.value, here.value.allowed)


def test_a_mechanism_has_all_of_its_fields():
    mechanism = ASKED.built()
    with pytest.raises(TypeError, match="spacing_m"):
        type(mechanism).restored(**ASKED.stated)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04\x95",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b"{",
        b'{"refused": {"parameter": "a", "value": "b"}}',
        b'{"refused": {"parameter": "a", "value": "b", "allowed": "c", "more": "d"}}',
        b'{"refused": {"parameter": "a", "value": 1, "allowed": "c"}}',
        b'{"refused": {"parameter": "a", "value": "b", "allowed": "\\ud800"}}',
        b'{"refused": {"parameter": "a", "value": "b", "allowed": "' + b"x" * 2_001 + b'"}}',
        b'{"refused": {}, "calibrated": {}}',
        b"[" * 100_000,
        b'{"calibrated": ' * 20_000,
        b"9" * 100_000,
    ],
    ids=lambda content: content[:30].decode(errors="replace"),
)
def test_what_is_no_answer_is_refused(content):
    with pytest.raises(MessageError):
        messages.answer_from(ASKED, content)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("refused",), {"parameter": "a", "value": "b", "allowed": "c"}),
        (("calibrated",), []),
        (("calibrated", "mechanism"), "laplace"),
        (("calibrated", "on_devices"), "none"),
        (("calibrated", "more"), 1),
        (("calibrated", "chosen"), {}),
        (("calibrated", "chosen", "more"), [1, 2]),
        (("calibrated", "chosen", "epsilon"), [1, 1000]),
        (CHOSEN, 12.5),
        (CHOSEN, "12"),
        (CHOSEN, [1.0, 2]),
        (CHOSEN, [True, 2]),
        (CHOSEN, [1, 0]),
        (CHOSEN, [1, -1]),
        (CHOSEN, [0, 1]),
        (CHOSEN, [-1, 2]),
        (CHOSEN, [10**9, 1]),
        (CHOSEN, [10**400, 10**400 + 1]),
        (CHOSEN, [1, 2, 3]),
        (CHOSEN, {"__class__": "object"}),
        (GUARANTEE, None),
        ((*GUARANTEE, "relation"), "add_remove"),
        ((*GUARANTEE, "trust"), ["central"]),
        ((*GUARANTEE, "delta"), "-1/2"),
        ((*GUARANTEE, "delta"), 0.5),
        ((*GUARANTEE, "simulated"), 1),
        ((*GUARANTEE, "terms"), "x"),
        ((*TERM, "cap"), "1e999999999/1"),
        ((*TERM, "cap"), "9" * 5_000 + "/1"),
        ((*TERM, "offset_m"), "inf"),
        ((*TERM, "more"), "1/1"),
        (ALONE, "none"),
        (ERROR, None),
        (ERROR, ["Fraction", {"numerator": 1}]),
        (ERROR, ["ErrorBound", {"emd": 0.5}]),
        (ERROR, ["ShareError", {"share": 0.5, "quantity": "", "assumptions": "", "more": 1.0}]),
        (ERROR, ["ShareError", {"share": 1, "quantity": "", "assumptions": ""}]),
        (ERROR, ["ShareError", {"share": float("nan"), "quantity": "", "assumptions": ""}]),
        (ERROR, ["ShareError", {"share": float("inf"), "quantity": "", "assumptions": ""}]),
        (ERROR, ["ShareError", {"share": -0.5, "quantity": "", "assumptions": ""}]),
        (ERROR, ["ShareError", {"share": 0.5, "quantity": ["a"], "assumptions": ""}]),
        (ERROR, ["ShareError", {"share": 0.5, "quantity": "a\x00", "assumptions": ""}]),
    ],
    ids=lambda part: str(part)[:40],
)
def test_an_answer_with_something_else_in_it_is_refused(honest, path, value):
    with pytest.raises(MessageError):
        messages.answer_from(ASKED, json.dumps(changed(json.loads(honest), path, value)).encode())


def test_a_guarantee_has_few_terms_and_one_beside_it(honest):
    body = json.loads(honest)
    (term,), alone = body["calibrated"]["guarantee"]["terms"], body["calibrated"]["guarantee"]
    for path, value in (
        ((*GUARANTEE, "terms"), [term] * 101),
        (ALONE, alone | {"if_shuffler_fails": alone}),
        (ALONE, alone | {"terms": [term] * 101}),
    ):
        with pytest.raises(MessageError):
            messages.answer_from(ASKED, json.dumps(changed(json.loads(honest), path, value)).encode())


def test_whole_numbers_are_whole():
    asked = question("emd-itemwise")
    answer = messages.answer_bytes(asked, asked.answer())
    for value in (True, 1.0, 0, 2**31 + 1, [1, 1], "16"):
        body = changed(json.loads(answer), ("calibrated", "chosen", "samples"), value)
        with pytest.raises(MessageError):
            messages.answer_from(asked, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("more",), 1),
        (("name",), 1),
        (("persons",), 1.0),
        (("region",), [1, 2, 3, 4]),
        (("region",), [0.0, 0.0, -1.0, 1.0]),
        (("target", "guide"), "x"),
        (("target", "epsilon"), "1/2"),
        (("target", "relation"), "none"),
        (("parameters", "width"), ["object", "os.system"]),
        (("parameters",), []),
    ],
    ids=str,
)
def test_a_child_refuses_what_is_no_question(path, value):
    body = changed(json.loads(messages.question_bytes(ASKED)), path, value)
    with pytest.raises(MessageError):
        messages.question_from(json.dumps(body).encode())


@pytest.mark.parametrize("length", [planner._LONGEST_ANSWER + 1, 2**64 - 1])
def test_a_long_answer_is_not_read(length):
    back = BytesIO(planner.LENGTH.pack(length) + b" " * 100)
    with pytest.raises(MessageError):
        planner.answer(ASKED, BytesIO(), back)
    assert back.tell() == planner.LENGTH.size


@pytest.mark.parametrize("sent", [b"", b"\x01", planner.LENGTH.pack(3) + b"{}"])
def test_half_an_answer_is_none(sent):
    assert planner.answer(ASKED, BytesIO(), BytesIO(sent)) is None


def changed(body, path, value):
    part = body
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    return body
