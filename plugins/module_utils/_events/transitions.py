"""Makes events from what was known of a VM and what holds now, each with an id, none of them twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest, metadata_of, qualified_name
from .._resolver.api.tree import set_at, value_at
from .._resolver.secrets.redaction import redact
from .facts import BEGINNINGS, DELETED, MENDED, RUNNING, TRANSITIONS, VMFacts

Event = dict[str, Any]

# Half a UUID is enough: an id is compared only with ids of the same VM and transition. A digest is compared only with
# the one of the last event, so a quarter of it is enough.
_ID: Final = 32
_DIGEST: Final = 8


class LastEvent(NamedTuple):
    """The last event of a transition of a VM.

    holds: whether the state lasts. digest: of `Fact.what`. id: the event's id.
    """

    holds: bool
    digest: str
    id: str


class KnownVM(NamedTuple):
    """A VM as the source knows it. last_events: the last event of each transition, by its name."""

    uid: str
    last_events: Mapping[str, LastEvent]


class Change(NamedTuple):
    """A step of what is known.

    known: afterwards, None for a VM that is gone. event: the event to tell before, or None.
    """

    vm: str
    known: KnownVM | None
    event: Event | None = None


class Reporter(NamedTuple):
    """Makes events.

    cluster: its name in events. transitions: the transitions to tell; others change the known VM silently. fields: the
    paths of the VM's fields in events. silent: tell nothing, only learn.
    """

    cluster: str
    transitions: Collection[str] = BEGINNINGS
    fields: tuple[tuple[str, ...], ...] = ()
    silent: bool = False

    def changes(self, vm: Manifest, facts: VMFacts, known: KnownVM | None) -> Iterator[Change]:
        """The steps from what is known of a VM to what holds now; none if nothing has changed.

        A VM of another UID is another VM, so the one that was known is deleted.
        """
        name, uid = qualified_name(vm), str(metadata_of(vm).get("uid") or "")
        if known is not None and known.uid != uid:
            yield from self.deletion(name, known)
            known = None
        saved = known
        told = {} if known is None else dict(known.last_events)
        for transition in TRANSITIONS:
            if transition in facts.unknown:
                continue
            last, fact = told.get(transition), facts.held.get(transition)
            if fact is None:
                if last is not None and last.holds:
                    told[transition] = last._replace(holds=False)
                    if event := self._end(transition, last, name, uid):
                        # A state that begins again has another id.
                        told[transition] = LastEvent(False, last.digest, event["id"])
                        saved = KnownVM(uid, dict(told))
                        yield Change(name, saved, event)
                continue
            digest = _digest(transition, fact.what)[:_DIGEST]
            if last is not None and last.holds and last.digest == digest:
                continue
            before = [last.id] if last is not None and self._tells_end(transition) else []
            if last is not None and last.holds and (event := self._end(transition, last, name, uid)):
                yield Change(name, saved, event)
            event_id = self._id(uid, transition, fact.what, fact.cause, *before)
            told[transition] = LastEvent(True, digest, event_id)
            # A state that seemed to end, and goes on, was told.
            if last is None or last.id != event_id:
                saved = KnownVM(uid, dict(told))
                yield Change(name, saved, self._event(event_id, transition, name, uid, fact.text, vm))
        if saved is None or told != saved.last_events:
            yield Change(name, KnownVM(uid, told))

    def deletion(self, name: str, known: KnownVM) -> Iterator[Change]:
        """The steps for a VM that does not exist any more. name: NAMESPACE/NAME."""
        for transition, last in known.last_events.items():
            if last.holds and (event := self._end(transition, last, name, known.uid)):
                yield Change(name, known, event)
        event_id = self._id(known.uid, DELETED)
        yield Change(name, None, self._event(event_id, DELETED, name, known.uid, "the VM was deleted", {}))

    def _tells_end(self, transition: str) -> bool:
        return MENDED in self.transitions and transition in self.transitions and transition not in (RUNNING, DELETED)

    def _end(self, transition: str, last: LastEvent, name: str, uid: str) -> Event | None:
        """The event that a state has ended; None if it is not to be told. It names the event of the beginning."""
        if not self._tells_end(transition):
            return None
        event_id = self._id(uid, MENDED, last.id)
        event = self._event(event_id, MENDED, name, uid, f"{transition} has ended", {})
        return None if event is None else {**event, "mended": transition, "mends": last.id}

    def _id(self, uid: str, transition: str, *cause: str) -> str:
        return _digest(self.cluster, uid, transition, *cause)

    def _event(self, event_id: str, transition: str, name: str, uid: str, text: str, vm: Manifest) -> Event | None:
        if self.silent or transition not in self.transitions:
            return None
        namespace, _slash, own = name.partition("/")
        event: Event = {
            "id": event_id,
            "transition": transition,
            "cluster": self.cluster,
            "namespace": namespace,
            "name": own,
            "uid": uid,
            "message": text,
        }
        if self.fields and vm:
            event["virtual_machine"] = projection(vm, self.fields)
        return event


def projection(vm: Manifest, fields: Iterable[tuple[str, ...]]) -> Manifest:
    """The VM with these fields only, as far as it has them, without secrets."""
    hidden, _same = redact(vm, vm)
    result: Manifest = {}
    for path in fields:
        value = value_at(hidden, path)
        if value is not None:
            set_at(result, path, value)
    return result


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_ID]


def line_of(name: str, known: KnownVM | None) -> str:
    """A known VM as a line of JSON, for a file. name: NAMESPACE/NAME."""
    told = (
        {}
        if known is None
        else {key: [int(item.holds), item.digest, item.id] for key, item in known.last_events.items()}
    )
    return json.dumps([name, None if known is None else known.uid, told], separators=(",", ":"))


def known_of(lines: Iterable[str]) -> dict[str, KnownVM]:
    """The known VMs by NAMESPACE/NAME. The last line about a VM counts.

    Raises ValueError for a line that `line_of` did not write.
    """
    result: dict[str, KnownVM] = {}
    for line in lines:
        try:
            name, uid, told = json.loads(line)
            known = {
                key: LastEvent(bool(holds), str(digest), str(event_id))
                for key, (holds, digest, event_id) in told.items()
            }
        except (AttributeError, TypeError, ValueError):
            raise ValueError(f"{line[:40]!r} is not a line of this event source") from None
        if uid is None:
            result.pop(str(name), None)
        else:
            result[str(name)] = KnownVM(str(uid), known)
    return result
