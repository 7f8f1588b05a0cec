"""The filter diagnosis: why VMs do not run, from the objects of a cluster."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._capacity.placement.reasons import node_reasons
from ...module_utils._diagnosis.offline import diagnoses, flattened
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.name_rules import one_line
from ...module_utils._resolver.kubevirt.config.cluster import KubeVirt, kubevirt_of
from .._filters import check_option, manifests, release_option, text

_diagnoses = partial(
    diagnoses,
    node_reasons=node_reasons,
)


def diagnosis(value: Any, kubevirt_version: Any = None, at: Any = None) -> list[dict[str, Any]]:
    """See its documentation."""
    objects = list(flattened(manifests("objects", value)))
    time = "" if at is None else str(check_option("at", at, text))
    kubevirt = next((item for item in objects if item.get("kind") == "KubeVirt"), None)
    release = release_option(kubevirt_version, kubevirt)
    try:
        return diagnosed(objects, KubeVirt(release), time)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


def diagnosed(objects: list[Manifest], kubevirt: KubeVirt, at: str = "") -> list[dict[str, Any]]:
    """The diagnoses of the VMs among objects without lists, by the KubeVirt among them, or else by the given one.

    Raises ValueError if an object does not match its schema.
    """
    live = next((item for item in objects if item.get("kind") == "KubeVirt"), None)
    version = ".".join(map(str, kubevirt.release.version))
    try:
        return _diagnoses(objects, kubevirt if live is None else kubevirt_of(live, version), at)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"an object does not match its schema ({one_line(error)})"
        raise ValueError(f"{problem}; pass them as kubectl get -o yaml prints them") from None
