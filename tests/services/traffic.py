"""Analysts and a steward who use a deployment over HTTP, and ask again until they are answered.

python -m tests.services.traffic    makes them, and their datasets; prints their tokens
"""

import http.client
import json
import sys
import threading
import time
from dataclasses import dataclass, field

ASKED, FILLED = "asked", "filled"  # the dataset of the analysts, and the one that files come into
ANALYSTS = 3
ROWS = 20_000  # of a file
GIVE_UP_SECONDS = 120
UNANSWERED = 500  # from this status on, as without an answer, nobody knows what was done


def make():
    """People with tokens; both datasets."""
    import django

    django.setup()
    from django.contrib.auth.models import User

    from heatmaps.models import ApiToken, Membership
    from tests.services import seed

    people = [User.objects.create_user(name) for name in ("steward", *map(str, range(ANALYSTS)))]
    for slug in (ASKED, FILLED):
        dataset = seed.make_dataset(people[0], slug, limits={"presence": "1000"})
        for analyst in people[1:]:
            Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
        seed.add_checkins(dataset)
    scopes = ["read", "release", "steward"]
    return [ApiToken.objects.create(user=one, name="traffic", scopes=scopes)[1] for one in people]


@dataclass(slots=True)
class Traffic:
    """What was asked for in one run, and what was answered."""

    port: int
    tokens: list
    run: int
    answered: dict = field(default_factory=dict)  # key -> id of the release
    cancelled: list = field(default_factory=list)  # ids that were said to be, when it was first answered
    problems: list = field(default_factory=list)

    def start(self):
        work = [threading.Thread(target=self._noted, args=(self._analyst, at)) for at in range(ANALYSTS)]
        work.append(threading.Thread(target=self._noted, args=(self._steward,)))
        for thread in work:
            thread.start()
        return work

    def _noted(self, act, *arguments):
        try:
            act(*arguments)
        except Exception as error:  # noqa: BLE001 - the test tells it
            self.problems.append(f"{act.__name__}: {error!r}")

    def _analyst(self, at):
        """Three releases, each asked for by a key; the second is given up, if it is not too late."""
        token = self.tokens[1 + at]
        for number in range(3):
            # No two questions are the same, so none is answered for nothing.
            epsilon = f"0.{1000 + 10 * self.run + 3 * at + number}"
            body = {"mechanism": "sparse-emd", "epsilon": epsilon, "resolution": 16, "parameters": {}}
            key = f"{self.run}-{at}-{number}"
            status, told = self._asked(token, f"datasets/{ASKED}/releases/", body, {"Idempotency-Key": key})
            assert status == 202, (status, told)
            self.answered[key] = told["id"]
            if number == 1:
                status, _ = self._asked(token, f"releases/{told['id']}/cancel/", {})
                assert status in {200, 409}, status
                if status == 200:
                    self.cancelled.append(told["id"])

    def _steward(self):
        """A file; sent again, it may have been taken before."""
        rows = "".join(f"u{self.run + at % 977},0.{at % 9973:04},0.{at % 9967:04}\n" for at in range(ROWS))
        body, kind = f"user,lat,lon\n{rows}".encode(), {"Content-Type": "text/csv"}
        status, told = self._asked(self.tokens[0], f"datasets/{FILLED}/uploads/", body, kind)
        assert status == 201 or told["code"] == "duplicate_upload", (status, told)

    def _asked(self, token, address, body, headers=None):
        """(status, answer), asked again after every failure that says nothing about what was done."""
        end = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < end:
            status, told = send(self.port, token, address, body, headers or {})
            if status and status < UNANSWERED:
                return status, told
            time.sleep(0.1)
        raise AssertionError(f"{address} was not answered within {GIVE_UP_SECONDS} s; the last was {status}")


def send(port, token, address, body, headers):
    """(status, JSON) of a POST; (0, None) without an answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"} | headers
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("POST", f"/api/v1/{address}", content, sent)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


if __name__ == "__main__":
    json.dump(make(), sys.stdout)
