"""VMIs and environments for the tests of pods."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release_schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import parse_release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.environment import (
    Environment,
    environment,
)

METADATA = {"name": "web", "namespace": "shop", "uid": "u"}


def make_env(version: str = "1.9", **options: Any) -> Environment:
    """An environment. version: of KubeVirt. options: as for environment, `gates` being feature gates that are on."""
    gates = options.pop("gates", None)
    if gates is not None:
        options["configuration"] = {"developerConfiguration": {"featureGates": gates}}
    return environment(parse_release(version), **options)


def spec_of(domain: dict[str, Any] | None = None, version: str = "1.9", **spec: Any) -> dict[str, Any]:
    """A canonical VMI spec with a vCPU."""
    full_domain = {"cpu": {"sockets": 1, "cores": 1, "threads": 1}, "devices": {}, **(domain or {})}
    return release_schema.canonical(
        "VirtualMachineInstanceSpec", {"domain": full_domain, **spec}, parse_release(version)
    )
