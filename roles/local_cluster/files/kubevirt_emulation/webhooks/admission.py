"""AdmissionReviews: requests of the API server to a webhook, and responses."""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple

from _resolver.instancetype.webhooks.admission import Response

Manifest = dict[str, Any]


class Review(NamedTuple):
    """A request. user, groups: the writer. object: to be stored. old: the stored object, None on creation."""

    uid: str
    operation: str
    kind: str
    namespace: str
    user: str
    groups: tuple[str, ...]
    object: Manifest
    old: Manifest | None

    @property
    def being_deleted(self) -> bool:
        return bool(self.object["metadata"].get("deletionTimestamp"))


def read(review: Manifest) -> Review:
    """Parses the body of a request."""
    request = review["request"]
    user = request.get("userInfo") or {}
    return Review(
        request["uid"],
        request["operation"],
        request["kind"]["kind"],
        request.get("namespace", ""),
        user.get("username", ""),
        tuple(user.get("groups") or ()),
        request["object"],
        request.get("oldObject"),
    )


class Answer(NamedTuple):
    """A response.

    patch: JSON patch of a mutating webhook. status: why the object is rejected, or None.
    crashed: virt-api panics and does not respond.
    """

    patch: tuple[Manifest, ...] = ()
    status: Manifest | None = None
    warnings: tuple[str, ...] = ()
    crashed: bool = False

    @classmethod
    def refusing(cls, response: Response) -> Answer:
        """The Answer for the resolver's refusal of an object."""
        return cls(status=response.status(), crashed=response.crash)

    def to_review(self, uid: str) -> Manifest:
        """The body of the response."""
        response: Manifest = {"uid": uid, "allowed": self.status is None}
        if self.status is not None:
            response["status"] = self.status
        if self.patch:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(self.patch).encode()).decode()
        if self.warnings:
            response["warnings"] = list(self.warnings)
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def not_of_schema(mistakes: list[str]) -> Manifest:
    """The Status for an object that virt-api's own schema rejects; its causes have only a message."""
    causes = [{"message": text} for text in mistakes]
    return {"message": ", ".join(mistakes), "reason": "Invalid", "code": 422, "details": {"causes": causes}}
