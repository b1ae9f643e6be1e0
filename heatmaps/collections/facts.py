"""Writes the one text of a round that both roles serve (`docs/explanation/collections.md`)."""

import hashlib
import json
import math
from typing import Final

from heatmaps.collections.plans import PlannedRound, loss_facts
from heatmaps.models import Round

KIND: Final = "hazemap round"
VERSION: Final = 1


def text(found: Round, plan: PlannedRound) -> str:
    """Of a round whose shuffler has told its part. JSON of integers and strings, spelled in one way."""
    release, dataset = found.release, found.release.dataset
    collection = dataset.collection
    region = [repr(float(edge)) for edge in (dataset.west, dataset.south, dataset.east, dataset.north)]
    body = {
        "kind": KIND,
        "version": VERSION,
        "round": str(release.pk),
        "collection": dataset.slug,
        "number": found.number,
        "title": dataset.title,
        "question": collection.question,
        "region": region,
        "mechanism": release.mechanism,
        "trust": str(plan.device.trust),
        "encoding": plan.device.encoding,
        "table_sha256": hashlib.sha256(plan.device.table).hexdigest(),
        "messages": plan.device.messages,
        "message_bytes": plan.device.message_bytes,
        "reports_per_person": found.reports_per_person,
        "invitations": found.invitations,
        "invitations_sha256": found.invitations_sha256,
        "open_link": collection.open_link,
        "least_honest": found.least_honest,
        "dishonest_share": str(found.dishonest_share),
        "least_reports": plan.least_reports,
        "opens_at": math.floor(found.opens_at.timestamp()),
        "closes_at": math.floor(found.closes_at.timestamp()),
        "analyser": {
            "operator": collection.analyser_operator,
            "url": collection.analyser_url,
            "key": found.analyser_key,
        },
        "shuffler": {
            "operator": collection.shuffler_operator,
            "url": collection.shuffler_url,
            "key": found.shuffler_key,
        },
        "loss": loss_facts(plan.per_report, dataset),
        "loss_alone": loss_facts(plan.alone, dataset),
        "page_sha384": found.page_sha384,
    }
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def are_of(found: Round, plan: PlannedRound) -> bool:
    """Whether devices were told to do what a plan reads: the same integers in the same way."""
    told = json.loads(found.facts)
    table = hashlib.sha256(plan.device.table).hexdigest()
    return bool(told["encoding"] == plan.device.encoding and told["table_sha256"] == table)


def digest(facts: str) -> str:
    return hashlib.sha256(facts.encode("ascii")).hexdigest()
