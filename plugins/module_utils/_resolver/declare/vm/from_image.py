"""Instancetype and preference of a VM from an image's environment variables, which KubeVirt does not read.

The matcher is written by name. A VM keeps its matchers: a new image under the same tag does not resize it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...api.errors import FieldError
from ...api.matcher import INSTANCETYPE, ROLES, Role
from ...api.tree import copy
from ...boot.image import labels
from ...boot.origin import Image, existing_volume, image_of
from ...kubevirt.find.infer import IGNORE
from .. import virtual_machine

Manifest = dict[str, Any]


class Answer(NamedTuple):
    """environment: of the image, as NAME=value. problem: why it is unknown, one line."""

    environment: tuple[str, ...] = ()
    problem: str = ""


class Question(NamedTuple):
    """A matcher of a VM that an image decides. ignores: the VM may do without."""

    role: Role
    volume: str
    image: Image
    ignores: bool


class Completed(NamedTuple):
    """A VM with matchers by name, and warnings."""

    vm: Manifest
    warnings: list[str]


def existing_volumes(vm: Manifest, live: Manifest | None) -> list[str]:
    """The DataVolumes that `questions` needs."""
    names = (existing_volume(vm, _matcher(role, vm)["inferFromVolume"]) for role in _undecided(vm, live))
    return [name for name in dict.fromkeys(names) if name]


def questions(vm: Manifest, live: Manifest | None, existing: Mapping[str, Manifest]) -> list[Question]:
    """The matchers of a declared VM that images decide. existing: DataVolumes by name."""
    found = []
    for role in _undecided(vm, live):
        matcher = _matcher(role, vm)
        volume = matcher["inferFromVolume"]
        own = existing.get(existing_volume(vm, volume)) or {}
        image = image_of(vm, volume, existing)
        if image is not None and role.volume_label not in ((own.get("metadata") or {}).get("labels") or {}):
            ignores = matcher.get("inferFromVolumeFailurePolicy") == IGNORE
            found.append(Question(role, volume, image, ignores))
    return found


def _undecided(vm: Manifest, live: Manifest | None) -> list[Role]:
    """The roles whose matcher is to be inferred and is not yet decided for the live VM."""
    wanted = [role for role in ROLES if _matcher(role, vm).get("inferFromVolume")]
    if live is None or not wanted:
        return wanted
    kept = virtual_machine.reconcile(vm, live, "").manifest
    return [role for role in wanted if _matcher(role, kept).get("inferFromVolume")]


def _matcher(role: Role, vm: Manifest) -> Manifest:
    return role.matcher_of(vm) or {}


def completed(vm: Manifest, asked: Iterable[Question], answers: Mapping[Image, Answer]) -> Completed:
    """The VM with the matchers from its images. Raises FieldError if a required one is missing."""
    result, warnings = copy(vm), []
    refused: dict[str, list[Role]] = {}
    for question in asked:
        role, answer = question.role, answers[question.image]
        said = {} if answer.problem else labels(answer.environment)
        if said.get(role.volume_label):
            if question.ignores and role is INSTANCETYPE:
                # As KubeVirt does: the memory was for a disk without an instancetype.
                result["spec"]["template"]["spec"]["domain"].pop("memory", None)
            matcher = {"name": said[role.volume_label], "kind": said.get(role.volume_kind_label)}
            result["spec"][role.matcher] = {field: value for field, value in matcher.items() if value}
            continue
        told = _nothing(question, answer)
        if question.ignores:
            del result["spec"][role.matcher]
            warnings += [f"the VM gets no {role.matcher}: {told}"] if answer.problem else []
        else:
            refused.setdefault(told, []).append(role)
    if refused:
        parts = [
            f"{' and '.join(role.matcher for role in roles)}: {told}; {_remedy(roles)}"
            for told, roles in refused.items()
        ]
        raise FieldError("infer_from_registry", "; ".join(parts))
    return Completed(result, warnings)


def _nothing(question: Question, answer: Answer) -> str:
    image = f"the image {question.image.name} of the volume {question.volume}"
    if answer.problem:
        return f"cannot ask for {image}: {answer.problem}"
    return f"{image} has no variable INSTANCETYPE_KUBEVIRT_IO_DEFAULT_{question.role.matcher.upper()}"


def _remedy(roles: list[Role]) -> str:
    names = " and ".join(f"{role.matcher}.name" for role in roles)
    return f"set {names}, or infer: auto for a VM that may do without"
