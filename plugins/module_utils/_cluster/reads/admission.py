"""Which admission webhooks and policies of a cluster may change objects that are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from ..._resolver.api.kinds import Kind
from ..._resolver.api.label_selector import matches
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
# The API server gives each namespace this label.
_NAME: Final = "kubernetes.io/metadata.name"
_UNKNOWN: Final = "an admission webhook or policy of the cluster"
_SHOWN: Final = 3


class _Part(NamedTuple):
    """The part of a webhook or a policy that selects requests: rules of kinds, and a selector of namespaces."""

    rules: Sequence[Manifest]
    namespaces: Manifest


class Mutators:
    """The webhooks and policies beside KubeVirt's own. They are read once, and only if something asks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, kind: Kind, namespace: str) -> str:
        """The names of the webhooks and policies for the objects of a kind in a namespace, in words.

        namespace: "" for objects of the cluster.
        """
        names = [
            f"{item['kind']} {item['metadata']['name']}"
            for item in self._objects
            if _OWN.isdisjoint(labels_of(item)) and any(_reaches(part, kind, namespace) for part in _parts(item))
        ]
        return " or ".join(names[:_SHOWN]) if names else _UNKNOWN

    def undone(self, field: str, kind: Kind, namespace: str) -> str:
        """The failure of a write whose answer lacks the field that it sets."""
        return f"{field}: {self.of(kind, namespace)} does not let the object have it"

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


def _parts(item: Manifest) -> Iterator[_Part]:
    """The webhooks of a configuration, or the constraints of a policy."""
    for hook in item.get("webhooks") or ():
        yield _Part(hook.get("rules") or (), hook.get("namespaceSelector") or {})
    constraints = (item.get("spec") or {}).get("matchConstraints") or {}
    yield _Part(constraints.get("resourceRules") or (), constraints.get("namespaceSelector") or {})


def _reaches(part: _Part, kind: Kind, namespace: str) -> bool:
    fits = any(_fits(rule, kind) for rule in part.rules)
    return fits and (not namespace or _may_select(part.namespaces, namespace))


def _fits(rule: Manifest, kind: Kind) -> bool:
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    return not ({kind.group, "*"}.isdisjoint(groups) or {kind.plural, "*", "*/*"}.isdisjoint(resources))


def _may_select(selector: Manifest, namespace: str) -> bool:
    """Whether a selector admits a namespace by its name. Its other labels, which would be a further read, may fit."""
    known = {_NAME: namespace}
    labels = {key: value for key, value in (selector.get("matchLabels") or {}).items() if key in known}
    expressions = [part for part in selector.get("matchExpressions") or () if part.get("key") in known]
    return matches({"matchLabels": labels, "matchExpressions": expressions}, known)
