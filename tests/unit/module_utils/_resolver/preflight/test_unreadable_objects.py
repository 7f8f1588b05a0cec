"""Objects that the user may not read are no lost objects."""

from typing import Any

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.instancetype import revision_names
from plugins.module_utils._resolver.preflight.lost_objects import lost_revision, power_problem

VM: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"instancetype": {"name": "small", "revisionName": "web-small-1"}},
    "status": {"instancetypeRef": {"controllerRevisionRef": {"name": "web-small-1"}}},
}


class Forbidding:
    """A lookup of a user without any right."""

    def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        raise KubeVirtError(f"{kind} {namespace}/{name} is forbidden", "Forbidden", 403)

    def list(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        return []


def test_unreadable_objects_are_not_lost() -> None:
    assert lost_revision(VM, INSTANCETYPE, Forbidding(), NEWEST) is None
    assert power_problem(VM, Forbidding(), NEWEST) is None


def test_matchers_that_lack_are_no_revisions() -> None:
    live = revision_names.without_revisions(VM, (INSTANCETYPE, PREFERENCE))
    assert live["spec"] == {"instancetype": {"name": "small"}} and live["status"] == {}
