"""CDI's webhooks: what they refuse is in `_resolver`; who may clone what, the API server is asked."""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import available_timezones

from _resolver.api.errors import Crash
from _resolver.boot import admission
from _resolver.boot.refusal import Cause, Refusal, refused
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.cdi.sources import source_of
from kubevirt_emulation.webhooks.admission import Answer, Review
from kubevirt_emulation.webhooks.names import Webhook

Manifest = dict[str, Any]

_WRITES: Final = ("CREATE", "UPDATE")
VOLUME_MUTATOR: Final = Webhook(
    "datavolume-mutate.cdi.kubevirt.io", "/datavolume-mutate", "DataVolume", ("CREATE",), True
)
VOLUME_VALIDATOR: Final = Webhook(
    "datavolume-validate.cdi.kubevirt.io", "/datavolume-validate", "DataVolume", _WRITES, False
)
CRON_VALIDATOR: Final = Webhook(
    "dataimportcron-validate.cdi.kubevirt.io", "/dataimportcron-validate", "DataImportCron", _WRITES, False
)
CONFIGURATIONS: Final = {
    "cdi-api-datavolume-mutate": (VOLUME_MUTATOR,),
    "cdi-api-datavolume-validate": (VOLUME_VALIDATOR,),
    "cdi-api-dataimportcron-validate": (CRON_VALIDATOR,),
}
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Webhooks:
    """Answers reviews; without a CDI nothing is refused."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def mutate_volume(self, review: Review) -> Answer:
        """Refuses a clone of another namespace to who may not read there."""
        if not self._context.installed:
            return Answer()
        volume = {**review.object, "metadata": {**review.object["metadata"], "namespace": review.namespace}}
        source = source_of(self._context, volume)
        given = ((volume.get("spec") or {}).get("source") or {}).get("pvc") or {}
        namespace = given.get("namespace") or (source.of[1] if source.of else "")
        if not namespace or namespace == review.namespace or await self._may_clone(review, namespace):
            return Answer()
        message = f"User {review.user} has insufficient permissions in clone source namespace {namespace}"
        return _refusing(refused([Cause(message, "spec.source.PVC.namespace")]))

    async def _may_clone(self, review: Review, namespace: str) -> bool:
        cdi = {"group": "cdi.kubevirt.io", "resource": "datavolumes", "subresource": "source"}
        for asked in (cdi, {"group": "", "resource": "pods"}):
            attributes = {"namespace": namespace, "verb": "create", **asked}
            spec = {"user": review.user, "groups": list(review.groups), "resourceAttributes": attributes}
            body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
            if (await self._context.client.request("POST", _REVIEWS, body))["status"]["allowed"]:
                return True
        return False

    async def validate_volume(self, review: Review) -> Answer:
        if not self._context.installed or review.being_deleted:
            return Answer()
        name = review.object["metadata"].get("name", "")
        claim = self._context.caches["PersistentVolumeClaim"].get((review.namespace, name))
        return _refusing(admission.data_volume_refusal(review.object, review.old, claim))

    async def validate_cron(self, review: Review) -> Answer:
        if not self._context.installed or review.being_deleted:
            return Answer()
        try:
            return _refusing(admission.data_import_cron_refusal(review.object, review.old, available_timezones()))
        except Crash as crash:
            return Answer(status={"message": str(crash), "code": 500}, crashed=True)


def _refusing(refusal: Refusal | None) -> Answer:
    if refusal is None:
        return Answer()
    causes = [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in refusal.causes]
    status: Manifest = {"message": refusal.message, "code": refusal.code}
    if causes:
        status |= {"reason": "Invalid", "details": {"causes": causes}}
    return Answer(status=status)
