"""The discovery of Kubernetes' dynamic client for its oldest version that the collection takes."""

from types import SimpleNamespace
from typing import Any

from kubernetes.dynamic.discovery import LazyDiscoverer


class Discoverer(LazyDiscoverer):
    """Discovery without subresources of subresources, such as KubeVirt's `virtualmachineinstances/evacuate/cancel`.

    Version 24.2 cannot read their names.
    """

    def get_resources_for_api_version(self, *arguments: Any) -> Any:
        client = self.client
        request = client.request

        def listed(*parts: Any, **options: Any) -> Any:
            resources = request(*parts, **options).resources or []
            return SimpleNamespace(resources=[item for item in resources if item["name"].count("/") < 2])

        client.request = listed
        try:
            return super().get_resources_for_api_version(*arguments)
        finally:
            client.request = request
