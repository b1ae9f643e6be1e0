"""Explains words, and serves the ground of the maps."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from heatmaps.maps.ground import ground_of
from heatmaps.numbers import amount, number
from heatmaps.result_kinds import RESULT_KINDS
from heatmaps.views.help import manual
from heatmaps.wording import mechanism_choice
from heatmaps.wording.guarantee import RELATIONS, right_guesses
from heatmaps.wording.record_distance import IN_GENERAL
from mechanisms.candidate_net import LARGEST_STRETCH
from mechanisms.catalogue import local, registry
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

_OF_ONE_REPORT: Final = "nobody, if the device blurs a place itself; this server, if it blurs a file"
EXAMPLES: Final = ("0.1", "0.5", "1", "2", "4", "10")  # of ε


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Names a word that a topic explains; `anchor`: where, on its page."""

    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Describes a page of the help; `name`: in its address and of its template; `deeper`: its page of the
    manual."""

    name: str
    title: str
    deeper: str
    words: tuple[Word, ...]


def _topic(name: str, title: str, deeper: str, **words: str) -> Topic:
    explained = (Word(anchor=anchor.replace("_", "-"), text=text) for anchor, text in words.items())
    return Topic(name=name, title=title, deeper=deeper, words=tuple(explained))


TOPICS: Final = (
    _topic(
        "data",
        "Data",
        "explanation/data.html",
        person="person",
        record="record",
        mass="weight",
        version="version",
        retention="retention",
        relation="two kinds",
    ),
    _topic(
        "privacy",
        "The privacy promise",
        "explanation/epsilon.html",
        epsilon="ε",
        delta="δ",
        distance="distances",
    ),
    _topic(
        "budget",
        "Budget",
        "explanation/budgets.html",
        limit="limit",
        quote="quote",
        allowance="allowance",
        ledger="ledger",
    ),
    _topic(
        "people",
        "Roles and sharing",
        "how-to/people.html",
        steward="steward",
        analyst="analyst",
        auditor="auditor",
        administrator="administrator",
        invitation="invitation",
        public_map="public map",
    ),
    _topic(
        "results",
        "Results and their errors",
        "explanation/maps.html",
        error="error",
        start="start from",
        districts="districts",
        comparison="comparison",
        point="point",
        zones="zones",
        distances="distances",
        state="states",
        moments="waiting",
    ),
    _topic("files", "Files", "reference/files.html"),
    _topic(
        "trust",
        "Trust",
        "explanation/threat-model.html",
        trusted="who is trusted",
        not_protected="what is not protected",
    ),
)
_BY_NAME: Final = {topic.name: topic for topic in TOPICS}


@login_not_required
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    context = {"section": "help", "topics": TOPICS, "examples": _examples(), "manual": manual.is_built()}
    return render(request, "help/start.html", context)


@login_not_required
@require_safe
def help_topic(request: HttpRequest, name: str) -> HttpResponse:
    topic = _BY_NAME.get(name)
    if topic is None:
        raise Http404("no such topic")
    context = {
        "section": "help",
        "topic": topic,
        "manual": manual.is_built(),
        "relations": {key.value: text for key, text in RELATIONS.items()},
        "formats": RESULT_KINDS["heatmap"].formats.values(),
        "point_formats": RESULT_KINDS["centroid"].formats.values(),
        "trusted": _trusted(),
        "distance": IN_GENERAL,
        "largest_stretch": LARGEST_STRETCH,
        "most_questions": settings.MOST_QUESTIONS_A_DAY,
        "least_epsilon": amount(settings.MIN_EPSILON),
    }
    return render(request, f"help/{topic.name}.html", context)


@require_safe
def ground(request: HttpRequest) -> JsonResponse:
    """Serves coast, water and borders in a box (`bbox=west,south,east,north`)."""
    try:
        region = Region.parse(request.GET.get("bbox", ""))
    except ParameterError as error:
        return JsonResponse({"error": str(error)}, status=400)
    content = ground_of(region)
    answer = JsonResponse(content)
    if "sea" in content:  # else it may be installed soon
        patch_cache_control(answer, private=True, max_age=86400)
    return answer


def _examples() -> list[dict[str, str]]:
    """Computes how often the best guess is right after a loss of ε, and how much oftener than a coin, in
    percent."""
    guesses = [(text, right_guesses(Fraction(text), Fraction(0))) for text in EXAMPLES]
    return [
        {"epsilon": text, "right": right, "gain": number(Fraction(right) - 50)} for text, right in guesses
    ]


def _trusted() -> list[tuple[str, list[str]]]:
    """Lists who sees unprotected check-ins, where that is not this server as usual, with titles of
    mechanisms."""
    titles: dict[str, list[str]] = {}
    for entry in registry.entries():
        titles.setdefault(mechanism_choice.who(entry), []).append(entry.title)
    del titles[mechanism_choice.USUAL]
    titles[_OF_ONE_REPORT] = [entry.title for entry in local.entries()]
    return [*titles.items()]
