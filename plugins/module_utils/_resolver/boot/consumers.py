"""Who boots from a boot source of another namespace: the service account of the VM must be allowed to clone it.

virt-controller asks for it (``AuthorizeSA``) when it creates the DataVolume of a VM; until then nobody does.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..api.errors import FieldError
from ..api.names import label, subdomain

Attributes = dict[str, str]

_CLONE: Final = {"group": "cdi.kubevirt.io", "resource": "datavolumes", "subresource": "source"}
_POD: Final = {"resource": "pods"}
# CDI asks for this resource, which does not exist, so only who may create everything has the right.
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


def consumer(text: str) -> Consumer:
    """Parses NAMESPACE or NAMESPACE/ACCOUNT. Raises FieldError."""
    namespace, slash, account = text.partition("/")
    wrong = label(namespace) or (subdomain(account) if slash else "")
    if wrong:
        raise FieldError("consumers", f"{text!r} is neither NAMESPACE nor NAMESPACE/SERVICE_ACCOUNT: {wrong}")
    return Consumer(namespace, account or "default")


def reviews(one: Consumer, namespace: str, name: str, snapshot: bool) -> list[list[dict[str, Any]]]:
    """The specs of the SubjectAccessReviews of a clone: it is allowed if all of one of the lists are.

    namespace, name: of what is cloned; "" for a name that is not known. snapshot: whether that is a VolumeSnapshot.
    """
    ways = [[_CLONE], [_POD, _CLAIM] if snapshot else [_POD]]
    return [[_review(one, {"namespace": namespace, "name": name, **asked}) for asked in way] for way in ways]


def refusal(one: Consumer, namespace: str) -> str:
    """What a consumer lacks."""
    return (
        f"consumers: VMs in {one.namespace} cannot boot from it: {one.user} may not create datavolumes/source of"
        f" cdi.kubevirt.io in {namespace}; bind a role with this right there"
    )


def _review(one: Consumer, asked: Attributes) -> dict[str, Any]:
    return {"user": one.user, "groups": one.groups, "resourceAttributes": {"verb": "create", **asked}}
