"""Consumers of a boot source of another namespace: the service account of the VM must be allowed to clone it.

virt-controller checks this (``AuthorizeSA``) only when it creates the DataVolume of a VM.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..api.errors import FieldError
from ..api.names import label, subdomain

_CLONE: Final = {"group": "cdi.kubevirt.io", "resource": "datavolumes", "subresource": "source"}
_POD: Final = {"resource": "pods"}
# CDI checks this resource, which does not exist, so only those who may create everything have the right.
_CLAIM: Final = {"resource": "pvcs"}


class Consumer(NamedTuple):
    """The service account of VMs."""

    namespace: str
    account: str

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{self.namespace}:{self.account}"

    @property
    def groups(self) -> list[str]:
        return ["system:serviceaccounts", f"system:serviceaccounts:{self.namespace}", "system:authenticated"]


def parse_consumer(text: str) -> Consumer:
    """Parses NAMESPACE or NAMESPACE/ACCOUNT. Raises FieldError."""
    namespace, slash, account = text.partition("/")
    wrong = label(namespace) or (subdomain(account) if slash else "")
    if wrong:
        raise FieldError("consumers", f"{text!r} is neither NAMESPACE nor NAMESPACE/SERVICE_ACCOUNT: {wrong}")
    return Consumer(namespace, account or "default")


def reviews(consumer: Consumer, namespace: str, name: str, snapshot: bool) -> list[list[dict[str, Any]]]:
    """The specs of the SubjectAccessReviews of a clone: it is allowed if all reviews of a list are.

    namespace, name: of what is cloned; "" for an unknown name. snapshot: whether that is a VolumeSnapshot.
    """
    alternatives = [[_CLONE], [_POD, _CLAIM] if snapshot else [_POD]]
    user, verb = {"user": consumer.user, "groups": consumer.groups}, {"verb": "create", "namespace": namespace}
    return [
        [{**user, "resourceAttributes": {**verb, "name": name, **attributes}} for attributes in rights]
        for rights in alternatives
    ]


def refusal(consumer: Consumer, namespace: str) -> str:
    """The rights that a consumer lacks."""
    return (
        f"consumers: VMs in {consumer.namespace} cannot boot from it: {consumer.user} may not create"
        f" datavolumes/source of cdi.kubevirt.io in {namespace}; bind a role with this right there"
    )
