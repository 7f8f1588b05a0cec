"""The validating webhooks of instancetypes and preferences, both scopes: `_resolver` does the work."""

from __future__ import annotations

from _resolver import find, validate
from kubevirt_emulation.webhooks.admission import Answer, Review


async def validate_instancetype(review: Review) -> Answer:
    return _answer(review)


async def validate_preference(review: Review) -> Answer:
    return _answer(review)


def _answer(review: Review) -> Answer:
    answer = validate.validate(review.kind, review.object, find.Objects([]), review.operation)
    if not answer.allowed:
        return Answer(status=answer.status())
    return Answer(warnings=answer.warnings)
