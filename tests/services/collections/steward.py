"""A steward of the analyser, in a process beside its server: each line of input is a question in JSON.

python -m tests.services.collections.steward
"""

import json
import sys
from datetime import timedelta

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from heatmaps.collections import collection as collections  # noqa: E402
from heatmaps.collections import round_draws, rounds  # noqa: E402
from heatmaps.collections.page import page_sha384  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Account, Dataset, Event, Release  # noqa: E402
from heatmaps.releases import lifecycle  # noqa: E402
from mechanisms.results.point import Point  # noqa: E402
from tests.services import seed  # noqa: E402


def create(slug, **facts):
    steward, _ = User.objects.get_or_create(username="steward")
    return {"token": collections.new_token(seed.make_collection(steward, slug, **facts).collection)}


def another_token(slug):
    return {"token": collections.new_token(Dataset.objects.get(slug=slug).collection)}


def plan(slug, opens_in, seconds, request):
    """A round that opens at a whole second."""
    dataset, steward = Dataset.objects.get(slug=slug), User.objects.get(username="steward")
    opens_at = (timezone.now() + timedelta(seconds=opens_in)).replace(microsecond=0)
    moments = {"opens_at": opens_at, "closes_at": opens_at + timedelta(seconds=seconds)}
    question = seed.round_request(**request)
    planned = rounds.plan(steward, dataset, question, page_sha384=page_sha384(), **moments)
    meant = round_draws.draw_of(rounds.round_of(dataset, planned.number))
    return {
        "id": str(planned.pk),
        "number": planned.number,
        "opens_at": moments["opens_at"].timestamp(),
        "closes_at": moments["closes_at"].timestamp(),
        "charges": {str(kind): units for kind, units in rounds.quote(dataset, question).charges.items()},
        "least_reports": meant.least_reports,
        "messages": meant.device.messages,
        "packet_bytes": meant.packet_bytes,
    }


def state(slug, number):
    return {"state": rounds.state_of(rounds.round_of(Dataset.objects.get(slug=slug), number))}


def tell(slug, number):
    """Where a round stands, and everything that its ledger says."""
    dataset = Dataset.objects.get(slug=slug)
    found = rounds.round_of(dataset, number)
    state = rounds.state_of(found)
    told = {
        "state": state,
        "facts": found.facts,
        "reports": found.reports,
        "batch_sha256": found.batch_sha256,
        "committed": {str(row.kind): row.committed for row in Account.objects.filter(dataset=dataset)},
        "events": list(
            Event.objects.filter(dataset=dataset).order_by("sequence").values_list("kind", flat=True)
        ),
        "releases": Release.objects.filter(dataset=dataset).count(),
        "problem": verify(dataset).problem,
    }
    result = lifecycle.result_of(found.release) if state == "published" else None
    if isinstance(result, Point):
        told |= {name: getattr(result, name) for name in ("lat", "lon", "expected_m", "within_m")}
    return told


def main():
    acts = {"create": create, "another_token": another_token, "plan": plan, "state": state, "tell": tell}
    for line in sys.stdin:
        question = json.loads(line)
        answer = acts[question.pop("act")](**question)
        connection.close()  # SQLite would keep what others write from us
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
