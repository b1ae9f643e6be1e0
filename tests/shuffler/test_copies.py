"""A state folder that is a copy brings nothing back: the operator says what became of it."""

import shutil

import pytest

from tests.shuffler import device
from tests.shuffler.conftest import joined
from tests.shuffler.process import PATIENCE_SECONDS, Shuffler, wait_until
from tests.shuffler.test_arrival_order import contents


def copied(shuffler, folder):
    """As `cp --archive` and backups make it."""
    shutil.copytree(shuffler.state, folder / "state")
    return Shuffler(folder)


def test_a_copy_does_nothing_until_the_operator_says_what_it_is(shuffler, tmp_path):
    told = copied(shuffler, tmp_path).commands(
        ("status",), ("enrol", "trees", "Zoe"), ("resume", "--moved"), ("enrol", "trees", "Zoe")
    )
    refusals = [refusal for _, refusal in told]
    assert refusals[0] == refusals[1]
    assert refusals[0].startswith(f"{tmp_path / 'state'} is a copy: ")
    assert told[2:] == [("Resumed.\n", ""), ("1 enrolled, 0 were already.\n", "")]
    assert shuffler.commands(("resume", "--restored"))[0][1].startswith("a server uses ")


@pytest.mark.long
def test_an_older_copy_hands_nothing_over(tmp_path):
    """Nor where the operator says, wrongly, that it was moved, as long as the analyser is honest."""
    with joined(tmp_path) as (shuffler, analyser):
        made = analyser.plan()
        shuffler.start()
        wait_until(shuffler.is_up, "the server")
        facts = shuffler.facts(made)
        secrets = [secret for _, secret in shuffler.secrets(made)]
        packets = [device.packet(facts, device.contents(facts)) for _ in secrets]
        for sent in zip(secrets[:6], packets[:6], strict=True):
            assert shuffler.report(made, *sent).status == 201
        restored, moved = (copied(shuffler, tmp_path / name) for name in ("restored", "moved"))
        for sent in zip(secrets[6:], packets[6:], strict=True):
            assert shuffler.report(made, *sent).status == 201
        shuffler.let_close(made)
        assert made.decided.wait(PATIENCE_SECONDS)
        made.state = "published"
        told = restored.commands(("resume", "--restored"), ("status",))
        said = told[0][0].splitlines()
        assert said[0] == f"trees: round {made.number} is forgotten."
        assert said[1].startswith("People who were removed since the copy was made are enrolled again")
        assert f"round {made.number} ({made.id}): restored\n" in told[1][0]
        held = contents(restored)
        assert not [name for name in held if str(made.id) in name]
        assert not [name for name, content in held.items() if packets[0][:16] in content]
        assert moved.commands(("resume", "--moved"))[0][1] == ""
        moved.let_close(made)
        moved.start()
        try:
            wait_until(lambda: moved.state_of(made) == "given_up", "the end")
        finally:
            moved.kill()
        assert len(made.batches) == 1
