"""The boot sources of a cluster, checked against their registries and the cluster's instancetypes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.boot import discovery, source
from ..._resolver.boot.discovery import BootSource, BootSourceFinding
from ..._resolver.choose.fitting import rejection_of_pair
from ..._resolver.preflight.object_keys import ObjectKey
from ..client.session import Session
from .image import contents_of
from .kubevirt import kubevirt
from .lookup import ClusterLookup
from .snapshot import list_if_permitted

Manifest = dict[str, Any]


class LabelProblem(NamedTuple):
    """An error in the default labels of a boot source.

    text: one line. missing: an object does not exist; else KubeVirt rejects an existing one.
    """

    text: str
    missing: bool


class Defaults:
    """Instancetypes and preferences of the cluster: one LIST for each kind and namespace, on first use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)

    def problems(self, namespace: str, labels: Mapping[str, str], architecture: str = "") -> list[LabelProblem]:
        """The errors in the default labels, for VMs in the namespace. Unreadable objects count as right.

        architecture: of the image, "" if unknown.
        """
        objects: dict[str, Manifest] = {}
        problems = []
        for role, (kind, name) in source.matchers(labels).items():
            live = self._lookup.get(kind, namespace, name) if kind in BY_NAME else None
            if live is None:
                problems.append(LabelProblem(f"{role}: there is no {kind} {name}", missing=True))
            elif isinstance(live, dict):
                objects[role] = live
        if len(objects) == 2:
            problem = rejection_of_pair(
                objects["instancetype"], objects["preference"], architecture, kubevirt(self._session).release
            )
            names = " and ".join(f"the {role} {manifest['metadata']['name']}" for role, manifest in objects.items())
            problems += [LabelProblem(f"{names} do not go together: {problem}", missing=False)] if problem else []
        return problems


_MISSING: Final = "missing_default"
_UNFIT: Final = "unfit_defaults"
_OUTDATED: Final = "outdated"
_UNCHECKED: Final = "registry_unknown"


def boot_sources(
    session: Session, namespace: str | None, names: list[str] | None, registry: bool, insecure: bool
) -> tuple[list[BootSource], list[str]]:
    """Boot sources with all findings, and warnings about kinds that the user may not read.

    namespace, names: None for all. registry: ask registries. insecure: see contents_of.
    One LIST for each kind, however many boot sources there are. Raises ApiError and ConnectionFailed.
    """
    warnings: list[str] = []
    objects: dict[str, list[Manifest]] = {}
    unread = []
    for kind in discovery.KINDS:
        warning_count = len(warnings)
        objects[kind] = list(list_if_permitted(session, BY_NAME[kind], warnings, namespace) or ())
        unread += [kind] if len(warnings) > warning_count else []
    _add_targets(session, objects, discovery.external_targets(objects, namespace))
    sources = [
        boot_source
        for boot_source in discovery.discover(objects, unread)
        if namespace in (None, boot_source.namespace) and (names is None or boot_source.name in names)
    ]
    defaults = Defaults(session)
    for boot_source in sources:
        problems = defaults.problems(boot_source.namespace, boot_source.labels)
        boot_source.findings += [
            BootSourceFinding(_MISSING if problem.missing else _UNFIT, problem.text) for problem in problems
        ]
    if registry:
        _check_registries(session, sources, insecure)
    return sources, warnings


def _add_targets(session: Session, objects: dict[str, list[Manifest]], keys: list[discovery.Key]) -> None:
    lookup = ClusterLookup(session)
    lookup.gather(ObjectKey(kind, namespace, name, namespace) for kind, namespace, name in keys)
    for kind, namespace, name in keys:
        live = lookup.get(kind, namespace, name)
        if isinstance(live, dict):
            objects[kind].append(live)


def _check_registries(session: Session, sources: list[BootSource], insecure: bool) -> None:
    images = {
        (boot_source.kind, boot_source.namespace, boot_source.name): image
        for boot_source in sources
        if (image := boot_source.image_to_check) is not None
    }
    contents = contents_of(session, ((image, insecure) for image in images.values()))
    for boot_source in sources:
        image = images.get((boot_source.kind, boot_source.namespace, boot_source.name))
        if image is None:
            continue
        content = contents[image, insecure]
        if content.problem:
            boot_source.findings.append(BootSourceFinding(_UNCHECKED, content.problem))
        elif content.digest != boot_source.origin.digest:
            text = f"{image.name} is now {content.digest}; the boot source has {boot_source.origin.digest}"
            boot_source.findings.append(BootSourceFinding(_OUTDATED, text))
