"""Events follow from what was known and what holds; none is sent twice."""

from typing import Any

import pytest

from plugins.module_utils._events import facts
from plugins.module_utils._events.facts import Fact, VMFacts
from plugins.module_utils._events.transitions import KnownVM, LastEvent, Reporter, known_of, line_of, projection

Manifest = dict[str, Any]
REPORTER = Reporter("east")
ALL = [name for name in facts.BEGINNINGS if name != facts.DELETED]


def vm(uid: str = "vm") -> Manifest:
    return {"metadata": {"name": "db", "namespace": "shop", "uid": uid, "labels": {"tier": "web"}}, "spec": {}}


class Watched:
    """A VM, and what a reporter knows of it."""

    def __init__(self, reporter: Reporter = REPORTER) -> None:
        self.reporter = reporter
        self.known: KnownVM | None = None
        self.saved = 0

    def see(self, *unknown: str, uid: str = "vm", **held: str | Fact) -> list[Manifest]:
        """The events of a look."""
        found = {name: fact if isinstance(fact, Fact) else Fact(fact, f"text {fact}") for name, fact in held.items()}
        events = []
        for change in self.reporter.changes(vm(uid), VMFacts(found, frozenset(unknown)), self.known):
            self.known, self.saved = change.known, self.saved + 1
            events += [change.event] if change.event is not None else []
        return events


@pytest.mark.parametrize("transition", ALL)
def test_each_transition_is_told_once(transition: str) -> None:
    watched = Watched()
    [event] = watched.see(**{transition: "a"})
    assert event.pop("id") and event == {
        "transition": transition,
        "cluster": "east",
        "namespace": "shop",
        "name": "db",
        "uid": "vm",
        "message": "text a",
    }
    saved = watched.saved
    assert watched.see(**{transition: "a"}) == []
    assert watched.saved == saved == 1


def test_a_new_cause_is_a_new_event() -> None:
    watched = Watched()
    ids = {event["id"] for what in "abc" for event in watched.see(drifted=what)}
    assert len(ids) == 3


def test_a_state_may_begin_again() -> None:
    watched = Watched()
    [first] = watched.see(restart_required=Fact("guest:cpu", "t", "1"))
    assert watched.see(restart_required=Fact("guest:cpu", "t", "2")) == []
    assert watched.see() == []
    [second] = watched.see(restart_required=Fact("guest:cpu", "t", "3"))
    assert first["id"] != second["id"]


def test_the_same_cause_is_never_told_again() -> None:
    watched = Watched()
    assert len(watched.see(running="guest")) == 1
    assert watched.see() == watched.see(running="guest") == []


def test_what_cannot_be_judged_stays_as_it_was() -> None:
    watched = Watched()
    watched.see(drifted="a")
    assert watched.see("drifted") == watched.see(drifted="a") == []
    assert watched.saved == 1


def test_another_uid_is_another_vm() -> None:
    watched = Watched()
    watched.see(running="a")
    assert [(event["transition"], event["uid"]) for event in watched.see(uid="new", running="b")] == [
        ("deleted", "vm"),
        ("running", "new"),
    ]


def test_ids_differ_by_cluster() -> None:
    [east], [west] = (Watched(Reporter(name)).see(drifted="a") for name in ("east", "west"))
    assert east["id"] != west["id"]


def test_other_transitions_are_learned_silently() -> None:
    watched = Watched(Reporter("east", [facts.DRIFTED]))
    assert watched.see(running="a") == []
    watched.reporter = REPORTER
    assert watched.see(running="a") == []
    assert Watched(REPORTER._replace(silent=True)).see(running="a") == []


def test_deletion() -> None:
    [change] = REPORTER.deletion("shop/db", KnownVM("vm", {}))
    assert change.known is None
    assert change.event is not None and change.event["transition"] == facts.DELETED


def test_events_have_the_requested_fields() -> None:
    watched = Watched(REPORTER._replace(fields=(("metadata", "labels"), ("spec", "nothing"))))
    [event] = watched.see(drifted="a")
    assert event["virtual_machine"] == {"metadata": {"labels": {"tier": "web"}}}
    [change] = watched.reporter.deletion("shop/db", KnownVM("vm", {}))
    assert change.event is not None and "virtual_machine" not in change.event


def test_secrets_are_no_part_of_events() -> None:
    volumes = [{"name": "init", "cloudInitNoCloud": {"userData": "password: hunter2"}}]
    assert "hunter2" not in str(projection({"spec": {"volumes": volumes}}, [("spec", "volumes")]))


def test_what_is_known_survives_as_lines() -> None:
    known = KnownVM(
        "vm", {facts.DRIFTED: LastEvent(True, "12345678", "id"), facts.RUNNING: LastEvent(False, "87654321", "id2")}
    )
    lines = [line_of("shop/a", KnownVM("old", {})), line_of("shop/a", known), line_of("shop/b", known)]
    assert known_of([*lines, line_of("shop/b", None)]) == {"shop/a": known}


@pytest.mark.parametrize("line", ["", "{}", "[1, 2]", '["a", "b", []]', '["a", "b", {"drifted": [1]}]'])
def test_other_lines_are_errors(line: str) -> None:
    with pytest.raises(ValueError, match="is not a line of this event source"):
        known_of([line])


def test_the_end_of_a_state_names_its_beginning() -> None:
    watched = Watched(REPORTER._replace(transitions=facts.TRANSITIONS))
    [begun] = watched.see(broken="claim")
    assert watched.see("broken") == []
    [ended] = watched.see()
    told = {name: ended[name] for name in ("transition", "mended", "mends", "message")}
    assert told == {"transition": "mended", "mended": "broken", "mends": begun["id"], "message": "broken has ended"}
    assert watched.see() == []
    [again] = watched.see(broken="claim")
    assert again["transition"] == "broken" and again["id"] not in (begun["id"], ended["id"])


def test_another_cause_ends_the_one_before() -> None:
    watched = Watched(REPORTER._replace(transitions=(facts.BROKEN, facts.MENDED)))
    [first] = watched.see(broken="claim", drifted="a")
    ended, second = watched.see(broken="quota", drifted="b")
    assert (ended["mends"], second["transition"]) == (first["id"], "broken") and second["id"] != first["id"]


def test_a_deletion_ends_what_holds() -> None:
    reporter = REPORTER._replace(transitions=facts.TRANSITIONS)
    watched = Watched(reporter)
    begun = {event["transition"]: event["id"] for event in watched.see(broken="claim", running="guest")}
    watched.see(broken="claim", running="guest")
    assert watched.known is not None
    changes = list(reporter.deletion("shop/db", watched.known))
    ended, deleted = (change.event for change in changes)
    assert ended is not None and ended["mends"] == begun["broken"] and changes[0].known == watched.known
    assert deleted is not None and deleted["transition"] == "deleted" and changes[1].known is None


def test_what_is_learned_silently_ends_silently() -> None:
    watched = Watched(REPORTER._replace(transitions=facts.TRANSITIONS, silent=True))
    assert watched.see(broken="claim") == watched.see() == []
