"""Writes the one text of a round that both roles serve (`docs/explanation/collections.md`)."""

import hashlib
import json
import math
from typing import Final

from heatmaps.collections.round_draws import RoundDraw, loss_facts
from heatmaps.models import Round

KIND: Final = "hazemap round"
VERSION: Final = 1


def text(collection_round: Round, draw: RoundDraw) -> str:
    """Writes the facts of a round whose shuffler has told its part, as JSON spelled in one way.

    It has integers and strings alone.
    """
    release, dataset = collection_round.release, collection_round.release.dataset
    collection = dataset.collection
    region = [repr(float(edge)) for edge in (dataset.west, dataset.south, dataset.east, dataset.north)]
    body = {
        "kind": KIND,
        "version": VERSION,
        "round": str(release.pk),
        "collection": dataset.slug,
        "number": collection_round.number,
        "title": dataset.title,
        "question": collection.question,
        "region": region,
        "mechanism": release.mechanism,
        "trust": str(draw.device.trust),
        "encoding": draw.device.encoding,
        "table_sha256": hashlib.sha256(draw.device.table).hexdigest(),
        "messages": draw.device.messages,
        "message_bytes": draw.device.message_bytes,
        "reports_per_person": collection_round.reports_per_person,
        "invitations": collection_round.invitations,
        "invitations_sha256": collection_round.invitations_sha256,
        "open_link": collection.open_link,
        "least_honest": collection_round.least_honest,
        "dishonest_share": str(collection_round.dishonest_share),
        "least_reports": draw.least_reports,
        "opens_at": math.floor(collection_round.opens_at.timestamp()),
        "closes_at": math.floor(collection_round.closes_at.timestamp()),
        "analyser": {
            "operator": collection.analyser_operator,
            "url": collection.analyser_url,
            "key": collection_round.analyser_key,
        },
        "shuffler": {
            "operator": collection.shuffler_operator,
            "url": collection.shuffler_url,
            "key": collection_round.shuffler_key,
        },
        "loss": loss_facts(draw.per_report, dataset),
        "loss_alone": loss_facts(draw.alone, dataset),
        "page_sha384": collection_round.page_sha384,
    }
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def are_of(collection_round: Round, draw: RoundDraw) -> bool:
    """Tells whether devices were told to do what a draw reads: the same integers in the same way."""
    facts = json.loads(collection_round.facts)
    table = hashlib.sha256(draw.device.table).hexdigest()
    return bool(facts["encoding"] == draw.device.encoding and facts["table_sha256"] == table)


def digest(facts: str) -> str:
    """Returns the SHA-256 of a round's facts."""
    return hashlib.sha256(facts.encode("ascii")).hexdigest()
