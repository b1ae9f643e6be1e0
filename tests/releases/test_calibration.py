"""Questions that take long to plan: by children, one at a time a person, for seconds, and remembered."""

import dataclasses
import os
import time
from contextlib import suppress
from fractions import Fraction
from signal import SIGKILL
from threading import Thread

import psutil
import pytest
from structlog.testing import capture_logs

from heatmaps.children import process
from heatmaps.children.calibrated import MechanismQuestion
from heatmaps.releases import calibration
from heatmaps.releases.calibration import OneAtATime, TakesLong
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.space.grid import Region
from tests.children.questions import NAMES, data_for
from tests.children.questions import question as question_of
from tests.mechanisms.examples import SEED


@pytest.fixture(autouse=True)
def anew():
    calibration._remembered.clear()  # the child stays: it takes a second to start


def asked(**changes):
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(changes.pop("epsilon", "1/2")),
        delta=Fraction(changes.pop("delta", 0)),
        radius_m=Fraction(600),
    )
    region, name = Region(-98.0, 30.0, -97.0, 31.0), changes.pop("name", "emd-linear")
    return MechanismQuestion(name=name, target=target, region=region, persons=5000, **changes)


def with_short_forecast(answer):
    """The answer with its forecast to twelve digits: the last of 16 depends on where memory lies."""
    error = answer.expected_error
    values = {field.name: getattr(error, field.name) for field in dataclasses.fields(error)}
    short = {name: float(f"{value:.12g}") for name, value in values.items() if isinstance(value, float)}
    return dataclasses.replace(answer, expected_error=dataclasses.replace(error, **short))


LONG = {"name": "sgdl-shuffle", "epsilon": "1/100", "delta": "1/1000000000000"}


@pytest.mark.parametrize(
    "question",
    [*map(question_of, NAMES), question_of("sgdl-shuffle", own={})],
    ids=lambda question: f"{question.name}-{len(question.parameters)}",
)
def test_a_child_finds_what_would_be_found_here(question):
    answer, own = calibration.calibrated(question), question.answer()
    data = data_for(own.mechanism)
    drawn = [each.mechanism.release(data, SeededSource(SEED)).to_bytes() for each in (answer, own)]

    # To the type and, but for a forecast, which sums by matrix products, to the bit.
    assert repr(with_short_forecast(answer)) == repr(with_short_forecast(own))
    assert answer.mechanism.guarantee == own.guarantee
    assert drawn[0] == drawn[1]


def test_a_child_that_was_taken_over_runs_nothing_here(monkeypatch):
    monkeypatch.delenv("HAZEMAP_TAKEN_OVER", raising=False)
    started, children = process.started, []

    def start(module, limits):
        children.append(started("tests.children.liar", limits))
        return children[0]

    monkeypatch.setattr(process, "started", start)
    monkeypatch.setattr(calibration, "_idle", [])
    with capture_logs() as logs, pytest.raises(TakesLong):
        calibration.calibrated(asked())

    assert "HAZEMAP_TAKEN_OVER" not in os.environ
    assert [line["event"] for line in logs] == ["planning.answer_refused"]
    assert (len(children), children[0].poll()) == (1, -SIGKILL)
    assert not calibration._idle


def test_a_refusal_stays_a_refusal():
    for _ in range(2):
        with pytest.raises(ParameterError) as caught:
            calibration.calibrated(asked(parameters={"nonsense": 1}))
        assert caught.value.parameter == "nonsense"


def test_what_was_planned_is_remembered(monkeypatch):
    planned = calibration.calibrated(asked())
    monkeypatch.delattr(calibration, "_answer")

    assert calibration.calibrated(asked()) is planned


def test_only_so_much_is_remembered(monkeypatch):
    monkeypatch.setattr(calibration, "_REMEMBERED", 2)
    for epsilon in ("1/2", "1/3", "1/4"):
        calibration.calibrated(asked(epsilon=epsilon))

    assert len(calibration._remembered) == 2
    assert asked(epsilon="1/2").key not in calibration._remembered


def test_what_takes_long_is_given_up(settings):
    calibration.calibrated(asked())
    child = calibration._idle[-1]
    psutil.Process(child.pid).suspend()  # from here on everything takes it long
    settings.PLANNING_SECONDS = 0.1
    with pytest.raises(TakesLong, match="try again"), calibration.for_person(1):
        calibration.calibrated(asked(epsilon="1/3"))

    assert child.poll() is not None
    assert child not in calibration._idle


def test_the_time_is_that_of_all_that_a_request_plans(settings):
    settings.PLANNING_SECONDS = 0.0
    with calibration.for_person(1), pytest.raises(TakesLong):
        calibration.calibrated(asked(epsilon="1/7"))


def test_a_person_has_one_question_at_a_time():
    told = []

    def ask(person, epsilon):
        try:
            with calibration.for_person(person):
                calibration.calibrated(asked(epsilon=epsilon))
            told.append((person, epsilon))
        except OneAtATime as busy:
            told.append((busy.status, busy.retry_seconds > 0))

    with calibration.for_person(1):
        calibration.calibrated(asked(epsilon="1/2"))
        # Of another request: anew, what is remembered, and somebody else.
        for question in ((1, "1/5"), (1, "1/2"), (2, "1/5")):
            thread = Thread(target=ask, args=question)
            thread.start()
            thread.join()
    ask(1, "1/6")

    assert told == [(429, True), (1, "1/2"), (2, "1/5"), (1, "1/6")]


def test_a_quote_holds_nobody_up(settings):
    """Planned in this process, a calibration holds the interpreter for as long as it takes."""
    calibration.calibrated(asked())
    settings.PLANNING_SECONDS = 0.1
    worked = time.process_time()
    with suppress(TakesLong):  # not where this process stalls until the child is done
        calibration.calibrated(asked(**LONG))

    assert time.process_time() - worked < 0.2
