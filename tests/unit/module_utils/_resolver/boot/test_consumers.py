"""The rights to clone a boot source of another namespace."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.source import (
    Consumer,
    parse_consumer,
    refusal,
    reviews,
)


def test_a_namespace_means_its_default_service_account() -> None:
    assert parse_consumer("shop") == Consumer("shop", "default")
    assert parse_consumer("shop/runner.x") == Consumer("shop", "runner.x")
    for text in ("", "Shop", "shop/", "shop/a/b", "/a"):
        with pytest.raises(FieldError, match="consumers"):
            parse_consumer(text)


def test_claim_clone_needs_either_of_two_rights() -> None:
    first, second = reviews(parse_consumer("shop"), "golden", "fedora-1", snapshot=False)
    assert first == [
        {
            "user": "system:serviceaccount:shop:default",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
            "resourceAttributes": {
                "verb": "create",
                "namespace": "golden",
                "name": "fedora-1",
                "group": "cdi.kubevirt.io",
                "resource": "datavolumes",
                "subresource": "source",
            },
        }
    ]
    assert [review["resourceAttributes"]["resource"] for review in second] == ["pods"]


def test_snapshot_clone_needs_one_right_or_two_others() -> None:
    alternatives = reviews(parse_consumer("shop"), "golden", "", snapshot=True)
    assert [[review["resourceAttributes"]["resource"] for review in rights] for rights in alternatives] == [
        ["datavolumes"],
        ["pods", "pvcs"],
    ]


def test_refusal_names_the_service_account() -> None:
    assert "system:serviceaccount:shop:runner may not create datavolumes/source" in refusal(
        parse_consumer("shop/runner"), "golden"
    )
