"""Who may clone a boot source of another namespace."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.consumers import (
    Consumer,
    consumer,
    refusal,
    reviews,
)


def test_a_namespace_means_its_default_service_account() -> None:
    assert consumer("shop") == Consumer("shop", "default")
    assert consumer("shop/runner.x") == Consumer("shop", "runner.x")
    for text in ("", "Shop", "shop/", "shop/a/b", "/a"):
        with pytest.raises(FieldError, match="consumers"):
            consumer(text)


def test_a_clone_of_a_claim_needs_one_of_two_rights() -> None:
    first, second = reviews(consumer("shop"), "golden", "fedora-1", snapshot=False)
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
    assert [one["resourceAttributes"]["resource"] for one in second] == ["pods"]


def test_a_clone_of_a_snapshot_needs_the_right_or_two_others() -> None:
    ways = reviews(consumer("shop"), "golden", "", snapshot=True)
    assert [[one["resourceAttributes"]["resource"] for one in way] for way in ways] == [
        ["datavolumes"],
        ["pods", "pvcs"],
    ]


def test_who_lacks_the_right_is_named() -> None:
    assert "system:serviceaccount:shop:runner may not create datavolumes/source" in refusal(
        consumer("shop/runner"), "golden"
    )
