"""Which admission webhooks and policies of a cluster may change objects that are written."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest, labels_of
from ..client.errors import ApiError, RequestFailed
from ..client.session import Session

_GROUP: Final = "admissionregistration.k8s.io"
_WEBHOOKS: Final = Kind("MutatingWebhookConfiguration", _GROUP, "v1", "mutatingwebhookconfigurations", False)
_POLICIES: Final = tuple(
    Kind("MutatingAdmissionPolicy", _GROUP, version, "mutatingadmissionpolicies", False)
    for version in ("v1", "v1beta1", "v1alpha1")
)
# The marks of the webhooks of KubeVirt and CDI, whose defaults are no surprise.
_OWN: Final = frozenset({"kubevirt.io", "cdi.kubevirt.io"})
_UNKNOWN: Final = "an admission webhook or policy of the cluster"
_SHOWN: Final = 3


class Mutators:
    """The webhooks and policies beside KubeVirt's own. They are read once, and only if something asks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, kind: Kind) -> str:
        """The names of the webhooks and policies for a kind, in words."""
        names = [
            f"{item['kind']} {item['metadata']['name']}"
            for item in self._objects
            if _OWN.isdisjoint(labels_of(item)) and any(_fits(rule, kind) for rule in _rules(item))
        ]
        return " or ".join(names[:_SHOWN]) if names else _UNKNOWN

    def undone(self, field: str, kind: Kind) -> str:
        """The failure of a write whose answer lacks the field that it sets."""
        return f"{field}: {self.of(kind)} does not let the object have it"

    @cached_property
    def _objects(self) -> list[Manifest]:
        try:
            return [*self._session.list(_WEBHOOKS), *self._policies()]
        except RequestFailed:
            # A user who may not read them sees the rest of the message.
            return []

    def _policies(self) -> list[Manifest]:
        """The policies, in the newest version that the cluster serves; none if it serves none or keeps them secret."""
        for kind in _POLICIES:
            try:
                return self._session.list(kind)
            except ApiError as error:
                if error.code != 404:
                    return []
        return []


def _rules(item: Manifest) -> list[Any]:
    """The rules by which requests reach a webhook or a policy."""
    constraints = ((item.get("spec") or {}).get("matchConstraints") or {}).get("resourceRules") or []
    return [*constraints, *(rule for hook in item.get("webhooks") or () for rule in hook.get("rules") or ())]


def _fits(rule: Manifest, kind: Kind) -> bool:
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    return not ({kind.group, "*"}.isdisjoint(groups) or {kind.plural, "*", "*/*"}.isdisjoint(resources))
