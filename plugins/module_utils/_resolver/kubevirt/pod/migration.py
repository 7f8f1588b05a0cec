"""The target pod of a migration (``createTargetPod``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...api.tree import copy
from .environment import Environment
from .pod import Manifest, Pod, Unrenderable, pod
from .scheduling import CREATED_BY, HOSTNAME, add_pod_anti_affinity
from .traits import Spec

_FEATURE: Final = "cpu-feature.node.kubevirt.io/"
_MODEL: Final = "cpu-model-migration.node.kubevirt.io/"
_VENDOR: Final = "cpu-vendor.node.kubevirt.io/"
_HOST_MODEL: Final = "host-model-cpu.node.kubevirt.io/"
_HOST_FEATURE: Final = "host-model-required-features.node.kubevirt.io/"


def target(
    metadata: Manifest,
    spec: Spec,
    env: Environment,
    status: Mapping[str, Any] | None = None,
    node_labels: Mapping[str, str] | None = None,
    source_selector: Mapping[str, str] | None = None,
    added_selector: Mapping[str, str] | None = None,
) -> Pod:
    """The target pod of a running VMI's migration.

    node_labels: of the VMI's node. source_selector: the node selector of the present pod, if it differs from a new
    pod's. added_selector: the node selector of the migration. Raises Unrenderable.
    """
    rendered = pod(metadata, spec, env, status, migrated=True)
    selector = dict(rendered.node_selector)
    if env.rules.added_node_selector:
        selector = {**(added_selector or {}), **selector}
    host_model = (spec["domain"].get("cpu") or {}).get("model") == "host-model"
    present = rendered.node_selector if source_selector is None else source_selector
    labels = node_labels or {}
    if host_model and env.rules.needs_host_model and not _host_model(present, labels):
        raise Unrenderable(f"the node has no label {_HOST_MODEL}MODEL with its CPU model", rendered.overhead)
    selector = with_source_cpu(selector, labels, present if host_model else None, env.rules.vendor_label)
    affinity: dict[str, Any] = copy(rendered.affinity)
    own = {"matchLabels": {CREATED_BY: metadata.get("uid", "")}}
    add_pod_anti_affinity(affinity, {"labelSelector": own, "topologyKey": HOSTNAME})
    return rendered._replace(node_selector=selector, affinity=affinity)


def with_source_cpu(
    selector: Mapping[str, str],
    labels: Mapping[str, str],
    present: Mapping[str, str] | None,
    vendor: bool = True,
) -> dict[str, str]:
    """A node selector that also requires a CPU like the source's.

    labels: of the source's node. present: the node selector of the source's pod, if its guest has the CPU model of its
    host; else None. vendor: require CPUs of one vendor.
    """
    result = {**selector, **(_host_model(present, labels) if present is not None else {})}
    if vendor and not any(_vendors(result)):
        result.update(dict.fromkeys([*_vendors(labels)][:1], "true"))
    return result


def _vendors(labels: Mapping[str, str]) -> Iterator[str]:
    return (label for label in labels if label.startswith(_VENDOR))


def _host_model(present: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of nodes with the CPU of the source, or of the first source after several migrations.

    None if the source has no model: newer releases then let the guest migrate to any node.
    """
    inherited = {label: value for label, value in present.items() if _FEATURE in label or _MODEL in label}
    if inherited:
        return inherited
    models = [label for label in labels if label.startswith(_HOST_MODEL)]
    if not models:
        return {}
    features = {
        _FEATURE + label.removeprefix(_HOST_FEATURE): value
        for label, value in labels.items()
        if label.startswith(_HOST_FEATURE)
    }
    return {**features, _MODEL + models[-1].removeprefix(_HOST_MODEL): labels[models[-1]]}
