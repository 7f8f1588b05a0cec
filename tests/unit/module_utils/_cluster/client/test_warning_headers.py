"""The warnings of the API server: headers as RFC 7234 has them, and as nobody should send them."""

import pytest

from plugins.module_utils._cluster.client.server_warnings import object_label, warning_texts


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ('299 - "spec.running is deprecated"', ["spec.running is deprecated"]),
        ('299 - "one", 299 kube-apiserver "two, with \\"quotes\\" and \\\\"', ["one", 'two, with "quotes" and \\']),
        ('299 - "dated" "Sat, 25 Aug 2012 23:34:45 GMT", 299 - "next"', ["dated", "next"]),
        ('110 cache "stale", 299 - "kept"', ["kept"]),
        ('299 - "a\\\tline\x1b[31m\x07 break"', ["a line [31m break"]),
        ('299 - ""', []),
        ('299 - "as far as it goes", 299 - "no end', ["as far as it goes"]),
        ("nonsense", []),
        ("", []),
        ('299 - "gr\u00c3\u00bc\u00c3\u009fe"', ["grüße"]),
        ('299 - "caf\u00e9"', ["café"]),
        ('299 - "see https://user:word@example.com/x"', ["see https://(hidden)@example.com/x"]),
        (f'299 - "{"x" * 2000}"', [f"{'x' * 1000}..."]),
        ('299 - "' + '\\"' * 40000, []),
    ],
)
def test_texts(header: str, texts: list[str]) -> None:
    assert warning_texts(header) == texts


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/apis/kubevirt.io/v1/namespaces/shop/virtualmachines/web", "shop/web"),
        ("/apis/subresources.kubevirt.io/v1/namespaces/shop/virtualmachines/web/restart", "shop/web"),
        ("/apis/kubevirt.io/v1/namespaces/shop/virtualmachines", "shop/virtualmachines"),
        ("/apis/kubevirt.io/v1/virtualmachines", "virtualmachines"),
        ("/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes/u1.small", "u1.small"),
        ("/api/v1/namespaces/shop", "shop"),
        ("/api/v1/namespaces", "namespaces"),
        ("/api/v1/nodes/a%2Fb", "a/b"),
        ("/version", ""),
    ],
)
def test_labels(path: str, label: str) -> None:
    assert object_label(path) == label
