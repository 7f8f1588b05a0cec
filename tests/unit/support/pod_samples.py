"""VMIs and environments for the tests of pods."""

from typing import Any

from plugins.module_utils._capacity.pod.environment import Environment
from plugins.module_utils._resolver.api import release_schema
from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

METADATA = {"name": "web", "namespace": "shop", "uid": "u"}


def make_env(version: str = "1.9", **options: Any) -> Environment:
    """An environment.

    options: the options of KubeVirt (configuration or gates, architecture, annotations), else of Environment.

    gates: feature gates that are on.
    """
    gates, architecture = options.pop("gates", None), options.pop("architecture", "amd64")
    annotations = options.pop("annotations", {})
    settings = options.pop("configuration", None) or {}
    if gates is not None:
        settings = {"developerConfiguration": {"featureGates": gates}}
    kubevirt = KubeVirt(parse_release(version), settings, architecture, annotations=annotations)
    return Environment(kubevirt, **options)


def spec_of(domain: dict[str, Any] | None = None, version: str = "1.9", **spec: Any) -> dict[str, Any]:
    """A canonical VMI spec with a vCPU."""
    full_domain = {"cpu": {"sockets": 1, "cores": 1, "threads": 1}, "devices": {}, **(domain or {})}
    return release_schema.canonical(
        "VirtualMachineInstanceSpec", {"domain": full_domain, **spec}, parse_release(version)
    )
