"""A link of the chain from the declaration of a VM to its guest, and what a broken one is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.keys import RETRIED_ANNOTATION
from .._resolver.api.manifest import Manifest, last_seen, name_of, namespace_of
from .._resolver.api.name_rules import one_line
from .._resolver.secrets.redaction import without_url_secrets
from .case import POD, Case, User

Result = dict[str, Any]

OURS: Final = "virtshape.instancetypes."
COMMAND: Final = "ansible.builtin.command"
KEEPS_TRYING: Final = "KubeVirt tries again at growing intervals, up to 16 minutes, and the VM stays stopped"
OVER_QUOTA: Final = "ErrExceededQuota"
"""The reason by which CDI says that a quota does not permit a claim."""


class Evidence(NamedTuple):
    """The evidence that a link is broken.

    kind, namespace, name: the object. source: `condition`, `event`, `status` or `field`. reason: the type and reason of
    the condition, the reason of the event, or the path of the field. message: its text. time: the time in the
    API server's form, "" if unknown.
    """

    kind: str
    namespace: str
    name: str
    source: str
    reason: str
    message: str = ""
    time: str = ""


class Broken(NamedTuple):
    """A broken link.

    problem: one line. remedy: what to do. task: the remedy as a task of Ansible, None if there is none to paste.
    otherwise: what happens without the remedy.
    """

    problem: str
    evidence: tuple[Evidence, ...]
    remedy: str
    task: Manifest | None
    otherwise: str

    def as_result(self) -> Result:
        """The fields as plain values, without secrets in URLs; without `task` if there is none."""
        values = {name: value for name, value in self._asdict().items() if value is not None}
        evidence = [{**item._asdict(), "message": without_url_secrets(item.message)} for item in self.evidence]
        return {**values, "problem": without_url_secrets(self.problem), "evidence": evidence}


class Link(NamedTuple):
    """A link. judge: the case → what is broken, or None. needs: kinds without which it cannot be judged.

    always: judged also for a VM that is to be stopped.
    """

    name: str
    judge: Callable[[Case], Broken | None]
    needs: tuple[str, ...] = ()
    always: bool = False


def task(text: str, module: str, **options: Any) -> Manifest:
    """A task of Ansible."""
    return {"name": text, module: options}


def kubectl(text: str, *words: str, namespace: str = "", stdin: Manifest | None = None) -> Manifest:
    """A task that runs kubectl, and needs no other collection. Its command can be pasted into a shell, too.

    stdin: the object that kubectl reads.
    """
    place = ("--namespace", namespace) if namespace else ()
    given = {"stdin": json.dumps(stdin)} if stdin is not None else {}
    return task(text, COMMAND, cmd=shlex.join(("kubectl", *place, *words)), **given)


def steps(text: str, tasks: Sequence[Manifest | None]) -> Manifest | None:
    """The tasks one after another as one; None if there are none."""
    block = [item for item in tasks if item is not None]
    return {"name": text, "block": block} if len(block) > 1 else next(iter(block), None)


def retried(case: Case, cure: Manifest, waiting: Evidence) -> Manifest:
    """A task that mends something beside the VM, and lets the controller of the object that waits try again at once.

    It would do so within 16 minutes. The time makes the annotation a change each time.
    """
    again = tried_again(case, waiting)
    return {"name": cure["name"], "block": [*cure.get("block", [cure]), again]}


def tried_again(case: Case, waiting: Evidence) -> Manifest:
    """A task that lets the controller of an object try again at once."""
    words = ("annotate", "--overwrite", waiting.kind.lower(), waiting.name, f"{RETRIED_ANNOTATION}={case.at}")
    return kubectl("Let the controller try again", *words, namespace=waiting.namespace)


def json_patch(text: str, item: Manifest, operations: Sequence[Manifest]) -> Manifest:
    """A task that changes an object by a JSON patch, whoever owns the fields."""
    patch = ("--type", "json", "--patch", _compact(operations))
    return kubectl(text, "patch", item["kind"].lower(), name_of(item), *patch, namespace=namespace_of(item))


def vm_task(text: str, case: Case, changes: Mapping[str, Any], *, restart: bool = True) -> Manifest:
    """A task that changes fields of the VM, whoever owns them, and restarts its guest, if there is one.

    changes: JSON pointer below the VM's spec → value. One that ends in `/-` adds an item to a list.
    """
    operations = [{"op": "add", "path": f"/spec{path}", "value": value} for path, value in changes.items()]
    changed = json_patch(text, case.vm, operations)
    if case.vmi is None or not restart:
        return changed
    return {"name": text, "block": [changed, power_task("Restart the guest", case, "restarted")]}


def added(items: Sequence[Any] | None, pointer: str, item: Any) -> dict[str, Any]:
    """The change that adds an item to a list of the VM, which may not have the list."""
    return {f"{pointer}/-": item} if items else {pointer: [item]}


def power_task(text: str, case: Case, state: str) -> Manifest:
    """A task that changes the power state of the VM."""
    return task(text, f"{OURS}virtual_machine_power", **case.selection, state=state)


def ended(users: Sequence[User]) -> str:
    """The way to end the users of a claim, in words."""
    verbs = {POD: "delete the pod"}
    return " and ".join(f"{verbs.get(user.kind, 'stop the VM')} {user.name}" for user in users)


def ending(case: Case, users: Sequence[User]) -> Manifest | None:
    """A task that ends the users of a claim of the VM's namespace."""
    place = namespace_of(case.vm)
    tasks = [
        kubectl(f"Delete {user.name}", "delete", "pod", user.name, namespace=place)
        if user.kind == POD
        else task(
            f"Stop {user.name}",
            f"{OURS}virtual_machine_power",
            **{**case.selection, "names": [user.name]},
            state="stopped",
        )
        for user in dict.fromkeys(users)
    ]
    return steps("Free the volume", tasks)


def emulated(case: Case) -> Manifest:
    """A task that lets KubeVirt emulate guests where nodes have no KVM."""
    spec = {"configuration": {"developerConfiguration": {"useEmulation": True}}}
    return merged("Emulate guests", "kubevirt", "kubevirt", case.kubevirt_namespace, spec=spec)


def resized(text: str, case: Case) -> Manifest:
    """A task that gives the VM another size, which the user has to choose."""
    instancetype = case.vm["spec"].get("instancetype")
    if instancetype:
        kind = {"kind": instancetype["kind"]} if instancetype.get("kind") else {}
        return vm_task(text, case, {"/instancetype": {"name": "NAME", **kind}})
    memory = case.declared_spec["domain"].get("memory") or {}
    return vm_task(text, case, {"/template/spec/domain/memory": {**memory, "guest": "MEMORY"}})


def created(text: str, kind: str, name: str, namespace: str = "", **parts: Any) -> Manifest:
    """A task that creates an object. kind: with its version, such as `v1/Secret`. parts: its other parts."""
    api_version, _slash, kind = kind.rpartition("/")
    place = {"name": name, **({"namespace": namespace} if namespace else {})}
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": place, **parts}
    return kubectl(text, "create", "--filename", "-", stdin=manifest)


def merged(text: str, kind: str, name: str, namespace: str = "", **parts: Any) -> Manifest:
    """A task that merges parts into an object."""
    return kubectl(text, "patch", kind, name, "--type", "merge", "--patch", _compact(parts), namespace=namespace)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def of_condition(manifest: Manifest, condition: Mapping[str, Any]) -> Evidence:
    """A condition of an object as evidence."""
    reason = " ".join(filter(None, (f"{condition.get('type')}={condition.get('status')}", condition.get("reason"))))
    time = condition.get("lastTransitionTime") or ""
    return _evidence(manifest, "condition", reason, one_line(condition.get("message")), str(time))


def of_event(event: Manifest) -> Evidence:
    """An event as evidence."""
    about = event.get("involvedObject") or {}
    kind, namespace, name = (str(about.get(part) or "") for part in ("kind", "namespace", "name"))
    reason, message = str(event.get("reason") or ""), one_line(event.get("message"))
    return Evidence(kind, namespace, name, "event", reason, message, last_seen(event))


def of_status(manifest: Manifest, field: str, message: str, time: str = "") -> Evidence:
    """A field of an object's status as evidence."""
    return _evidence(manifest, "status", field, message, time)


def of_field(manifest: Manifest, field: str, message: str) -> Evidence:
    """A field that somebody has written as evidence."""
    return _evidence(manifest, "field", field, message, "")


def _evidence(manifest: Manifest, source: str, reason: str, message: str, time: str) -> Evidence:
    metadata = manifest["metadata"]
    kind, namespace = str(manifest.get("kind") or ""), str(metadata.get("namespace") or "")
    return Evidence(kind, namespace, str(metadata["name"]), source, reason, message, time)
