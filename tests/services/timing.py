"""Two datasets that differ by one person with very many check-ins, and an analyst who times everything.

python -m tests.services.timing make|serve PORT|work

`make` prints a token for each; `attack` talks to a running server. `serve` is the product's, but for the low
priority of its worker: beside other tests it would get so little of a processor that every slot is missed.
"""

import http.client
import json
import random
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

WORLDS = {"without": 0, "with": 400_000}  # check-ins of that person
PEOPLE, EACH = 1_000, 5
PAUSE = 0.08  # seconds between two looks, on average
SPREAD = 0.3  # seconds, longer than the clock's tick, in which a question is asked
QUESTION = {"mechanism": "sparse-emd", "resolution": 16, "parameters": {}}


def make():
    from django.contrib.auth.models import User

    from heatmaps.ingest import inline
    from heatmaps.models import ApiToken, Membership
    from tests.services import seed

    steward, tokens = User.objects.create_user("steward"), {}
    for slug, checkins in WORLDS.items():
        dataset = seed.make_dataset(steward, slug)
        analyst = User.objects.create_user(f"analyst-{slug}")
        Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "checkins.csv"
            path.write_text("\n".join(content(checkins)))
            inline.upload_file(steward, dataset, path, progress=lambda *_: None)
        tokens[slug] = ApiToken.objects.create(user=analyst, name="laptop", scopes=["read", "release"])[1]
    return tokens


def serve(port):
    from django.core.management import call_command

    from heatmaps.management import embedded_worker

    embedded_worker.COMMAND = [sys.executable, "-m", "tests.services.timing", "work"]
    call_command("serve", port=int(port))


def work():
    from heatmaps.config.celery import app
    from heatmaps.management import embedded_worker

    embedded_worker._NICENESS = 0
    embedded_worker.work(app)


def content(checkins):
    yield "user,time,lat,lon"
    for at in range(PEOPLE * EACH):
        yield f"person {at % PEOPLE},,0.{at * 7919 % 9973:04},0.{at * 104729 % 9967:04}"
    for at in range(checkins):
        yield f"somebody,,0.{at * 7919 % 99991:05},0.{at * 104729 % 99989:05}"


def attack(port, tokens, times):
    """What an analyst of each dataset measured at each release: name -> dataset -> numbers.

    One release at a time, the datasets in random order and at random moments: each is timed while the other
    rests. Side by side, once a slot of one was missed and doubled, the other's moments fall into its draws
    while its own fall where nothing is drawn: they differ then, whatever was hidden.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    measured = {slug: [] for slug in tokens}
    for _ in range(times):
        for slug in random.sample(list(tokens), len(tokens)):
            time.sleep(random.uniform(0, SPREAD))
            measured[slug].append(_time_release(connection, slug, tokens[slug]))
    names = measured["with"][0]
    return {
        name: {slug: [one[name] for one in all_of] for slug, all_of in measured.items()} for name in names
    }


def _time_release(connection, slug, token):
    def call(method, path, body=None):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        began = time.perf_counter()
        connection.request(method, path, body and json.dumps(body), headers)
        told = json.loads(connection.getresponse().read())
        return told, time.perf_counter() - began

    # Never the same question, whose answer would be given again at once.
    question = QUESTION | {"epsilon": f"0.001{time.time_ns() % 10**9:09}"}
    asked, _ = call("POST", f"/api/v1/datasets/{slug}/releases/", question)
    visible_at, waits, told, looks = moment(asked["visible_at"]), [], asked, 0
    while told["state"] == "queued":
        time.sleep(random.uniform(0, 2 * PAUSE))
        told, wait = call("GET", f"/api/v1/releases/{asked['id']}/")
        waits.append(wait)
        looks += time.time() > visible_at
    seen = time.time()
    assert told["state"] == "published", told
    _, listed = call("GET", f"/api/v1/datasets/{slug}/releases/?page_size=1")
    return {
        "seconds after the promised moment": seen - visible_at,
        "looks after it": looks,
        "mean latency of own requests": sum(waits) / len(waits),
        "longest latency of own requests": max(waits),
        "latency right after": listed,
        "times late": told["late"],
    }


def moment(text):
    return datetime.fromisoformat(text).timestamp()


def auc(of_one, of_other):
    """The chance that a number of the one is larger than a number of the other, ties as half; from .5 up."""
    pairs = [(a > b) + (a == b) / 2 for a in of_one for b in of_other]
    area = sum(pairs) / len(pairs)
    return max(area, 1 - area)


def lower_bound(area, size, z=2.326):
    """Of the true area, at 99 %, for two samples of `size`: Hanley and McNeil (1982), equation 1."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (size - 1) * (q1 - area**2) + (size - 1) * (q2 - area**2)
    return area - z * (variance / size**2) ** 0.5


if __name__ == "__main__":
    import django

    django.setup()
    told = {"make": make, "serve": serve, "work": work}[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(told))
