"""What the emulation's parts are given: the configuration of a release of KubeVirt."""

from __future__ import annotations

from typing import Any, cast

from _resolver.api import release
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration


class _Kubevirts:
    """A cache that holds one KubeVirt object."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self._kubevirt = {"spec": {"configuration": configuration}}

    def get(self, _key: tuple[str, str]) -> dict[str, Any]:
        return self._kubevirt


def configured(version: str = "1.9.0", gates: list[str] | None = None, **configuration: Any) -> KubeVirtConfiguration:
    """The release with this `spec.configuration` and these feature gates."""
    configuration["developerConfiguration"] = {"featureGates": gates or []}
    return KubeVirtConfiguration(cast(Informer, _Kubevirts(configuration)), release.of(version))
