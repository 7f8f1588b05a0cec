"""Names of images, credentials, indexes."""

import base64
import json
from typing import Any

import pytest

from plugins.module_utils._boot_sources import image
from plugins.module_utils._boot_sources.image import ImageError, ImageReference

DIGEST = f"sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fedora", ImageReference("docker.io", "library/fedora", "latest", "")),
        ("docker://me/fedora:41", ImageReference("docker.io", "me/fedora", "41", "")),
        ("quay.io/containerdisks/fedora", ImageReference("quay.io", "containerdisks/fedora", "latest", "")),
        ("localhost/x", ImageReference("localhost", "x", "latest", "")),
        (f"registry:5000/a/b_c:1@{DIGEST}", ImageReference("registry:5000", "a/b_c", "", DIGEST)),
    ],
)
def test_parses_names(text: str, expected: ImageReference) -> None:
    assert image.reference(text) == expected


@pytest.mark.parametrize(
    "text", ["", "UPPER", "quay.io/", "quay.io/a b", "a:b:c", "x@sha256:1", "x@", "http://quay.io/a"]
)
def test_invalid_names_raise(text: str) -> None:
    with pytest.raises(ImageError, match="is not the name of an image"):
        image.reference(text)


def test_names_with_and_without_a_digest() -> None:
    parsed = image.reference("fedora")
    assert (parsed.host, parsed.name) == ("registry-1.docker.io", "docker.io/library/fedora:latest")
    pinned = image.reference(f"quay.io/a@{DIGEST}")
    assert (pinned.host, pinned.name) == ("quay.io", f"quay.io/a@{DIGEST}")


def test_parses_challenges() -> None:
    assert image.challenge('Bearer realm="https://x/token",scope="a:b"') == (
        "bearer",
        {"realm": "https://x/token", "scope": "a:b"},
    )
    assert image.challenge("") == ("", {})


def secret(**data: str) -> dict[str, Any]:
    encoded = {name: base64.b64encode(value.encode()).decode() for name, value in data.items()}
    return {"metadata": {"name": "pull"}, "data": encoded}


def docker(auths: Any) -> dict[str, Any]:
    return secret(**{".dockerconfigjson": json.dumps({"auths": auths})})


def test_reads_credentials_of_both_forms() -> None:
    auth = base64.b64encode(b"me:a:b").decode()
    assert image.credentials(docker({"quay.io": {"auth": auth}}), "quay.io") == ("me", "a:b")
    login = {"username": "me", "password": "x"}
    assert image.credentials(docker({"https://index.docker.io/v1/": login}), "docker.io") == ("me", "x")
    assert image.credentials(docker({"quay.io": login}), "other.io") is None
    assert image.credentials(secret(accessKeyId="me", secretKey="x"), "quay.io") == ("me", "x")
    assert image.credentials(secret(), "quay.io") is None


@pytest.mark.parametrize(
    "invalid_secret",
    [
        secret(**{".dockerconfigjson": "{"}),
        docker([]),
        docker({"quay.io": {}}),
        {"metadata": {"name": "pull"}, "data": {"accessKeyId": "!", "secretKey": "!"}},
    ],
)
def test_unreadable_secret_is_an_error(invalid_secret: dict[str, Any]) -> None:
    with pytest.raises(ImageError, match="Secret pull has no readable credentials"):
        if image.credentials(invalid_secret, "quay.io") is None:
            raise ImageError("Secret pull has no readable credentials")


def test_index_has_a_digest_per_architecture() -> None:
    entries = [
        {"digest": "1", "platform": {"os": "linux", "architecture": "amd64"}},
        {"digest": "2", "platform": {"os": "linux", "architecture": "amd64", "variant": "v2"}},
        {"digest": "3", "platform": {"os": "windows", "architecture": "arm64"}},
        {"digest": "4", "platform": {"os": "unknown", "architecture": "unknown"}},
        {"digest": "5", "platform": {"architecture": "unknown"}},
        {"digest": "6"},
    ]
    assert image.is_index({"manifests": []})
    assert not image.is_index({"config": {}})
    assert image.digest_for("x", {"manifests": entries}, "amd64") == "1"
    for index, others in (({"manifests": entries}, "amd64"), ({}, "none")):
        with pytest.raises(ImageError, match=f"x has no image for the architecture arm64; it has: {others}$"):
            image.digest_for("x", index, "arm64")
