"""Names that KubeVirt makes of a VM's name: if one is too long, every check passes and the VM never starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..api.errors import value_or_none
from ..api.finding import ERROR, WARNING, Finding
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELDS
from ..api.name_rules import LONGEST_LABEL, LONGEST_SUBDOMAIN, quoted
from ..api.tree import value_at
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype import find, revision_names

_LAUNCHER: Final = "virt-launcher-"
_UID: Final = "0" * 36
_LARGEST: Final = 10**9
_PERSISTENT: Final = (
    ("devices", "tpm", "persistent"),
    ("firmware", "bootloader", "efi", "persistent"),
)
_NEVER_STARTS: Final = "so KubeVirt accepts the VM, but cannot start it"


def too_long(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Iterator[Finding]:
    """Finds the names that KubeVirt derives from a VM with more characters than Kubernetes permits.

    vm: the admitted VM. live: the live VM, whose names are doubts: they may have changed with KubeVirt.
    """
    name = str(vm["metadata"].get("name") or "")
    yield from _line("metadata.name", "the name of its pod", len(_LAUNCHER + name), LONGEST_SUBDOMAIN, live is None)
    domain = (vm["spec"]["template"].get("spec") or {}).get("domain") or {}
    if any(value_at(domain, path) for path in _PERSISTENT):
        what = "its name as a label of the persistent state of its EFI or TPM"
        yield from _line("metadata.name", what, len(name), LONGEST_LABEL, live is None)
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_or_empty(vm)
        chosen = str(matcher.get("name") or "")
        if not chosen or matcher.get("revisionName"):
            continue
        new = live is None or matcher_field.matcher_or_empty(live).get("name") != chosen
        field = f"spec.{matcher_field.name}.name"
        yield from _line(field, f"{quoted(chosen)} as a label of its revision", len(chosen), LONGEST_LABEL, new)
        if len(revision_names.name(name, chosen, _UID, _LARGEST)) <= LONGEST_SUBDOMAIN:
            # Whatever the generation, so that the object need not be read.
            continue
        manifest = value_or_none(find.live_object, vm, matcher_field, cluster.objects) or {}
        generation = (manifest.get("metadata") or {}).get("generation") or 1
        revision = revision_names.name(name, chosen, _UID, generation)
        fields = f"metadata.name, {field}"
        yield from _line(
            fields, f"the name of its {matcher_field.name}'s revision", len(revision), LONGEST_SUBDOMAIN, new
        )


def _line(field: str, noun: str, length: int, maximum: int, is_new: bool) -> Iterator[Finding]:
    over = length - maximum
    if over > 0:
        characters = "1 character" if over == 1 else f"{over} characters"
        text = f"{noun} would have {length} characters of at most {maximum}, {_NEVER_STARTS}"
        yield Finding(text, ERROR if is_new else WARNING, field, f"drop {characters}")
