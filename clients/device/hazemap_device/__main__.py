"""Commands of the device client: `python -m hazemap_device --help`."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from hazemap_device import wording
from hazemap_device.agreement import Agreement
from hazemap_device.daemon import Daemon
from hazemap_device.errors import DeviceError
from hazemap_device.fetch import origin_of
from hazemap_device.link import Link
from hazemap_device.odometer import Odometer
from hazemap_device.places import Place
from hazemap_device.random_words import SystemWords
from hazemap_device.report import Device
from hazemap_device.whereabouts import from_command, from_file

EXAMPLES = 3


def run() -> None:
    """Runs the console command."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Runs one command; returns 0, or 1 with a sentence on the error output."""
    options = _parser().parse_args(_with_joined_places(arguments))
    try:
        options.command(options)
    except DeviceError as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def show(options: argparse.Namespace) -> None:
    """Says what is asked and what it costs."""
    link = _link(options)
    facts = _agreement(options, link).facts
    _say(*wording.summary(facts))
    if origin_of(link.shuffler) != origin_of(facts.shuffler.url):
        _say(f"The link leads to another address than this round's shuffler: {link.shuffler}")


def example(options: argparse.Namespace) -> None:
    """Draws reports of an example place, and sends none."""
    place = Place.parse(options.place)
    agreement = _agreement(options)
    facts = agreement.facts
    _say("Reports of this place could be:")
    for _ in range(EXAMPLES):
        messages = facts.encoding.report([facts.region.cell(place)], agreement.table, SystemWords())
        _say(f"  {wording.example(facts.encoding, messages, facts.region)}")
    _say("Nothing was sent. The draw of a real report is another one.")


def report(options: argparse.Namespace) -> None:
    """Sends one report."""
    places = [Place.parse(options.place)] if options.place else _places(options.places)
    link = _link(options)
    agreed = None
    if not options.yes:
        agreed = _agreement(options, link).facts
        _say(*wording.summary(agreed), "", "Send one report? [y/N] ", end="")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            _say("Nothing was sent.")
            return
    receipt = Device(options.state).report(
        link, places, analyser_url=options.analyser, shuffler_url=options.shuffler, agreed=agreed
    )
    if receipt.is_resent:
        _say("A report from before was still waiting: it was sent now, and this place was not used.")
    _say(f"Received. Receipt: {receipt.sha256}")


def sent(options: argparse.Namespace) -> None:
    """Lists what was sent and what it costs together."""
    odometer = Odometer(options.state)
    _say(*wording.totals(odometer.reports(), complete_since=odometer.complete_since()))


def leave(options: argparse.Namespace) -> None:
    """Takes part in no further round of a collection."""
    odometer = Odometer(options.state)
    with odometer.locked():
        if options.undo:
            odometer.rejoin(options.collection)
            _say("You may take part in this collection again.")
            return
        odometer.leave(options.collection)
    _say("This device sends nothing more to this collection. What was sent cannot be taken back.")


def daemon(options: argparse.Namespace) -> None:
    """Reports once in every public slot of the rounds in a file of links."""
    whereabouts = from_file(options.place_file) if options.place_file else from_command(options.place_command)
    Daemon(
        device=Device(options.state),
        links=options.links,
        whereabouts=whereabouts,
        clock=time.time,
        sleep=time.sleep,
        say=_say,
        analyser_url=options.analyser,
        shuffler_url=options.shuffler,
    ).run()


class _Parser(argparse.ArgumentParser):
    """Repeats nothing of what it does not understand: it may be a place or an invitation."""

    def error(self, message: str) -> NoReturn:  # noqa: ARG002 - it has arguments in it
        self.exit(2, f"{self.format_usage()}These arguments do not fit. See --help.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="hazemap_device", description="Reports places to Hazemap collections.")
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "hazemap-device"
    parser.add_argument("--state", type=Path, default=state, help="folder of what this device has sent")
    parser.add_argument("--analyser", metavar="URL", help="refuse rounds of any other analyser")
    parser.add_argument("--shuffler", metavar="URL", help="send also where links lead to this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (show, example, report):
        added = _added(commands, command)
        added.add_argument("link", metavar="LINK", help="of the invitation; - reads it from the input")
        if command is example:
            added.add_argument("--place", required=True, metavar="LAT,LON", help="any place but your own")
        if command is report:
            places = added.add_mutually_exclusive_group(required=True)
            places.add_argument("--place", metavar="LAT,LON")
            places.add_argument("--places", type=Path, metavar="FILE", help="one LAT,LON a line")
            added.add_argument("--yes", action="store_true", help="send without asking")
    _added(commands, sent)
    leaving = _added(commands, leave)
    leaving.add_argument("collection", metavar="COLLECTION")
    leaving.add_argument("--undo", action="store_true", help="take part again")
    following = _added(commands, daemon)
    following.add_argument("--links", type=Path, required=True, metavar="FILE", help="one link a line")
    source = following.add_mutually_exclusive_group(required=True)
    source.add_argument("--place-file", type=Path, metavar="FILE", help="its last line is LAT,LON")
    source.add_argument("--place-command", metavar="COMMAND", help="its last line is LAT,LON")
    return parser


def _added(
    commands: "argparse._SubParsersAction[_Parser]", command: Callable[[argparse.Namespace], None]
) -> argparse.ArgumentParser:
    added = commands.add_parser(command.__name__, help=command.__doc__)
    added.set_defaults(command=command)
    return added


def _with_joined_places(arguments: Sequence[str]) -> list[str]:
    """Joins `--place` to its value by "=": the value may begin with a minus sign."""
    normalised: list[str] = []
    for argument in arguments:
        if normalised and normalised[-1] == "--place":
            normalised[-1] = f"--place={argument}"
        else:
            normalised.append(argument)
    return normalised


def _link(options: argparse.Namespace) -> Link:
    return Link.parse(sys.stdin.readline() if options.link == "-" else options.link)


def _agreement(options: argparse.Namespace, link: Link | None = None) -> Agreement:
    return Agreement.reached(link or _link(options), analyser_url=options.analyser)


def _places(path: Path) -> list[Place]:
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        raise DeviceError("no_places", "The file of places cannot be read. Check its name.") from None
    return [Place.parse(line) for line in lines if line.strip()]


def _say(*lines: str, end: str = "\n") -> None:
    sys.stdout.write("\n".join(lines) + end)
    sys.stdout.flush()


if __name__ == "__main__":
    run()
