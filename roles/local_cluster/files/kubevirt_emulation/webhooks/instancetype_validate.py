"""The validating webhooks of instancetypes and preferences of both scopes; `_resolver` validates."""

from __future__ import annotations

from _resolver.api.release import Release
from _resolver.instancetype.find import lookup
from _resolver.instancetype.webhooks import validate
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.webhooks.admission import Answer, Review


class InstancetypeValidator:
    """Answers reviews of all four kinds."""

    def __init__(self, caches: dict[str, Informer], release: Release) -> None:
        self._caches = caches
        self._release = release

    async def answer(self, review: Review) -> Answer:
        answer = validate.validate(
            review.kind, review.object, lookup.Objects([]), review.operation, release=self._release
        )
        if not answer.allowed:
            return Answer.refusing(answer)
        # A VM with this object may arrive before the watch delivers the object.
        self._caches[review.kind].expect(review.object)
        return Answer(warnings=answer.warnings)
