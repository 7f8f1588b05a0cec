"""Who else writes an object: tools that declare it once, and what writes it from a source again and again, such as
Argo CD or a controller that owns it.

The rule for all modules: a field that another manager declares changes only if the task asks for it with an option.
Whatever changes such a field tells what the next write of a continuous writer makes of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api.managed_fields import FieldPath, fields_of_others, managers_of_others, owners
from ..api.manifest import Manifest, annotations_of, labels_of, name_of
from ..api.name_rules import first_names
from ..api.tree import copy

# Prefixes of the names of tools that declare an object once. A client uses its program's name, for example
# virtctl-v1.9.0-linux-amd64.
TOOLS: Final = (
    "kubectl-client-side-apply",
    "kubectl-create",
    "kubectl-edit",
    "kubectl-patch",
    "kubectl-replace",
    "kubectl-virt",
    "virtctl",
    "OpenAPI-Generator",
    "Terraform",
    "terraform-provider",
    "HashiCorp",
)

REVERTED: Final = "reverts the change, unless {source} has it"
REJECTED: Final = "is rejected by KubeVirt's webhook until {source} has the instancetype"
CREATED: Final = "creates the object again, unless {gone}"
"""Predicates that say how the next write of a continuous writer treats a change, or has treated it."""

FORCE: Final = "force_conflicts: true"
"""The remedy of all modules that change declared fields; adoption has no other."""

_TRACKING_ID: Final = "argocd.argoproj.io/tracking-id"
# An owner in another namespace, as NAMESPACE/NAME, by operators of the Operator SDK. Its type is KIND.GROUP.
_PRIMARY: Final = "operator-sdk/primary-resource"
# Fields in a message.
_SHOWN: Final = 3


class Writer(NamedTuple):
    """A tool or a controller that writes objects from a source again and again.

    managers: prefixes of its field managers. marks: prefixes of the labels and annotations that it gives its objects.
    write, source: in messages, a write of it, and what it writes from. gone: when it leaves an object deleted; "" for
    once the source no longer has it. owns: it is the controller in the object's ownerReferences, to which all fields
    belong.
    """

    name: str
    managers: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    write: str = "sync"
    source: str = "Git"
    gone: str = ""
    owns: bool = False


# The first that fits decides: Flux gives the objects of a chart the marks of Helm too.
WRITERS: Final = (
    Writer("Argo CD", ("argocd-",), (_TRACKING_ID, "argocd.argoproj.io/instance")),
    Writer(
        "Flux",
        ("kustomize-controller", "helm-controller", "flux-"),
        ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"),
    ),
    Writer("Fleet", ("fleetagent", "fleet-agent"), ("objectset.rio.cattle.io/",)),
    Writer("Config Sync", ("configsync", "config-sync"), ("configsync.gke.io/", "configmanagement.gke.io/")),
    Writer("Open Cluster Management", ("work-agent", "multicluster-operators"), ("apps.open-cluster-management.io/",)),
    Writer("kapp", ("kapp",), ("kapp.k14s.io/",), "deployment", "its manifests"),
    Writer("Helm", ("helm",), ("meta.helm.sh/",), "upgrade", "the chart"),
)


# Controllers by kind: their writes, where to change what they own, and when an object stays deleted. A pool
# also removes fields that it does not declare; Cluster API replaces machines instead of changing them.
_CONTROLLERS: Final[Mapping[str, tuple[str, str, str]]] = {
    "VirtualMachinePool": ("update", "spec.virtualMachineTemplate", "spec.replicas is lower"),
    "KubevirtMachine": ("rollout", "the KubevirtMachineTemplate", "its Machine is deleted"),
    "SSP": ("write", "the HyperConverged object", ""),
    "VirtualMachine": ("write", "the virtual machine", ""),
}


def controller_of(live: Manifest) -> Writer | None:
    """The controller that owns an object, or None. Other owners only take the object along when they are deleted."""
    owners = (live.get("metadata") or {}).get("ownerReferences") or ()
    owner = next((owner for owner in owners if owner.get("controller")), None)
    if owner is not None:
        kind, name = owner.get("kind", ""), owner.get("name", "")
    elif marked := annotations_of(live).get(f"{_PRIMARY}-type"):
        kind, name = marked.partition(".")[0], annotations_of(live).get(_PRIMARY, "").rpartition("/")[2]
    else:
        return None
    # Other controllers need not write their objects again.
    write, source, gone = _CONTROLLERS.get(kind, ("write probably", f"the {kind}", ""))
    return Writer(f"{kind} {name}", write=write, source=source, gone=gone, owns=True)


class WriterClaim(NamedTuple):
    """A continuous writer that declares fields of a change. fields: the names of the fields."""

    writer: Writer
    fields: tuple[str, ...] = ()

    def text(self, effect: str) -> str:
        """One line about the writer's next write. effect: REVERTED, REJECTED or CREATED."""
        writer = self.writer
        named = first_names(self.fields, _SHOWN) if self.fields else "the object"
        claim = "owns the object" if writer.owns else f"declares {named} too"
        gone = writer.gone or f"{writer.source} no longer has it"
        return f"{writer.name} {claim}: its next {writer.write} {effect.format(source=writer.source, gone=gone)}"


def writer_claim(live: Manifest, fields: Iterable[FieldPath], own: str) -> WriterClaim | None:
    """The continuous writer that declares some of the fields of a live object, or None.

    own: our field manager. If a writer's field managers are known, their fields count. If only its labels or
    annotations are there, the fields of all managers count but ours and KubeVirt's. A controller that owns the object
    has every field.
    """
    fields = list(fields)
    controller = controller_of(live)
    if controller is not None:
        return WriterClaim(controller) if fields else None
    # Most objects have none, so that nobody needs the fields of their managers.
    if writers := _writers(live, own):
        managers = fields_of_others(live, own)
        for writer in writers:
            entries = [entry for entry in managers if entry[0].startswith(writer.managers)]
            entries = entries or [entry for entry in managers if not entry[0].startswith("virt-")]
            if named := [".".join(field) for field in fields if owners(entries, field)]:
                return WriterClaim(writer, tuple(sorted(named)))
    return None


def writer_of(live: Manifest) -> Writer | None:
    """The continuous writer of an object, or None."""
    return controller_of(live) or next(iter(_writers(live, "")), None)


def _writers(live: Manifest, own: str) -> list[Writer]:
    """The continuous writers that are managers of an object, except our field manager, or have marked it."""
    managers = managers_of_others(live, own)
    marks = _marks(live)
    return [
        writer
        for writer in WRITERS
        if any(name.startswith(writer.managers) for name in managers)
        or any(key.startswith(writer.marks) for key in marks)
    ]


def without_marks(metadata: Mapping[str, Any], writer: Writer) -> Manifest:
    """A copy of an object's metadata without what the writer adds to its objects."""
    result: Manifest = copy(dict(metadata))
    for part in ("labels", "annotations"):
        kept = {key: value for key, value in (result.get(part) or {}).items() if not key.startswith(writer.marks)}
        result.pop(part, None)
        if kept:
            result[part] = kept
    return result


def _marks(live: Manifest) -> dict[str, str]:
    """The labels and annotations of an object, without a tracking ID copied from another one."""
    marks = {**labels_of(live), **annotations_of(live)}
    tracked = marks.get(_TRACKING_ID)
    if tracked is not None and not str(tracked).endswith(f"/{name_of(live)}"):
        del marks[_TRACKING_ID]
    return marks


def field_conflict(fields: Mapping[str, Iterable[str]], live: Manifest | None = None) -> str:
    """One line about declared fields of other managers, by manager, with the remedy. live: the object, if known."""
    remedy = f"remove the fields from the task, or set {remedies(fields, live)}"
    return f"another field manager owns declared fields: {ownership_text(fields)}; {remedy}{_by_managers(fields, live)}"


def ownership_text(fields: Mapping[str, Iterable[str]]) -> str:
    """`"kubectl" owns a, b; "helm" owns c`."""
    return "; ".join(f'"{owner}" owns {", ".join(sorted(names))}' for owner, names in sorted(fields.items()))


def remedies(managers: Iterable[str], live: Manifest | None = None) -> str:
    """The options of the declaring modules that take fields from the managers. live: the object, if known."""
    if controller_of(live or {}) is not None:
        # Who owns the whole object cannot give up its fields.
        return f"{FORCE} (takes what differs)"
    names = sorted(managers)
    value = "true" if all(name.startswith(TOOLS) for name in names) else f"[{', '.join(names)}]"
    return f"{FORCE} (takes what differs) or take_over: {value} (takes all that the task declares)"


def _by_managers(managers: Iterable[str], live: Manifest | None) -> str:
    """Says what the continuous writers among field managers, or the owner of the object, do next."""
    named = [writer for writer in WRITERS if any(name.startswith(writer.managers) for name in managers)]
    controller = controller_of(live or {})
    return "".join(f". {WriterClaim(writer).text(REVERTED)}" for writer in ([controller] if controller else named))
