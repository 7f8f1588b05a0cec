"""The client of registries against one on loopback."""

from pathlib import Path

import pytest
from docker_registry import PROGRAM, DockerRegistry, docker_registry
from loopback_registry import LoopbackRegistry, loopback_registry
from tls_server import with_tls

from plugins.module_utils._boot_sources.cluster.registry import RegistryImage
from plugins.module_utils._boot_sources.image import Content, ImageError, reference

ENVIRONMENT = {"amd64": ["PATH=/bin", "A=1"], "arm64": ["A=2"]}


def test_content_of_an_index_and_of_an_image(any_registry: LoopbackRegistry | DockerRegistry) -> None:
    address = any_registry.address
    digest = any_registry.push("disks/fedora", "latest", ENVIRONMENT)
    content = RegistryImage(reference(f"{address}/disks/fedora"), insecure=True).content("arm64")
    assert content == Content(digest, ("A=2",), architecture="arm64")
    digest = any_registry.push("disks/cirros", "1", {"s390x": []})
    content = RegistryImage(reference(f"{address}/disks/cirros:1"), insecure=True).content()
    assert content == Content(digest, architecture="s390x")
    assert RegistryImage(reference(f"{address}/disks/cirros@{digest}"), insecure=True).content() == content
    with pytest.raises(ImageError, match=r"has no image .*/disks/cirros:2"):
        RegistryImage(reference(f"{address}/disks/cirros:2"), insecure=True).content()


@pytest.mark.skipif(not PROGRAM, reason="docker-registry is not installed")
def test_login_to_the_real_registry(tmp_path: Path) -> None:
    with docker_registry(tmp_path, private=True) as private_registry:
        private_registry.push("a", "1", {"amd64": ["A=1"]})
        image = reference(f"{private_registry.address}/a:1")
        assert RegistryImage(image, ("me", "secret"), insecure=True).content().environment == ("A=1",)
        for invalid_login in (None, ("me", "wrong")):
            with pytest.raises(ImageError, match="check the name, or the credentials"):
                RegistryImage(image, invalid_login, insecure=True).content()


@pytest.mark.parametrize(("auth", "login"), [("bearer", None), ("bearer", ("me", "x:y")), ("basic", ("me", "x"))])
def test_login_by_token_and_by_password(registry: LoopbackRegistry, auth: str, login: tuple[str, str] | None) -> None:
    registry.push("a", "1", {"amd64": []})
    registry.auth, registry.login = auth, login
    image = reference(f"{registry.address}/a:1")
    assert RegistryImage(image, login, insecure=True).content().architecture == "amd64"
    if login:
        for invalid_login in (None, ("me", "wrong")):
            with pytest.raises(ImageError, match=r"check the credentials|check the name, or the credentials"):
                RegistryImage(image, invalid_login, insecure=True).content()


def test_redirect_does_not_get_the_token(registry: LoopbackRegistry) -> None:
    with loopback_registry() as storage:
        registry.push("a", "1", {"amd64": ["A=1"]})
        registry.auth, registry.storage, storage.content = "bearer", storage.address, registry.content
        assert RegistryImage(reference(f"{registry.address}/a:1"), insecure=True).content().environment == ("A=1",)
        assert storage.seen_by_storage == [""]


def test_certificates(registry: LoopbackRegistry, tmp_path: Path) -> None:
    registry.push("a", "1", {"amd64": []})
    authority = with_tls(registry, tmp_path)
    image = reference(f"{registry.address}/a:1")
    with pytest.raises(ImageError, match=r"cannot reach .*certificate verify failed"):
        RegistryImage(image).content()
    assert RegistryImage(image, certificates=authority.read_text()).content().architecture == "amd64"
    assert RegistryImage(image, insecure=True).content().architecture == "amd64"
    with pytest.raises(ImageError, match="certificates for the registry cannot be read"):
        RegistryImage(image, certificates="-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")


def test_missing_images_and_registries(registry: LoopbackRegistry) -> None:
    registry.push("a", "1", ENVIRONMENT)
    with pytest.raises(ImageError, match=r"has no image .*/a:2"):
        RegistryImage(reference(f"{registry.address}/a:2"), insecure=True).content()
    with pytest.raises(ImageError, match="no image for the architecture s390x; it has: amd64, arm64"):
        RegistryImage(reference(f"{registry.address}/a:1"), insecure=True).content("s390x")
    with pytest.raises(ImageError, match=r"cannot reach 127.0.0.1:1: "):
        RegistryImage(reference("127.0.0.1:1/a"), insecure=True).content()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "no manifest"),
        (b"{", "no manifest"),
        (b" " * (5 << 20), "no manifest"),
        (b"{}", "is not a container image"),
    ],
)
def test_responses_without_a_manifest(registry: LoopbackRegistry, content: bytes, message: str) -> None:
    registry.content["/v2/a/manifests/1"] = "application/json", content
    with pytest.raises(ImageError, match=message):
        RegistryImage(reference(f"{registry.address}/a:1"), insecure=True).content()


def test_wrong_digest_and_unmet_challenge(registry: LoopbackRegistry) -> None:
    digest = f"sha256:{'0' * 64}"
    registry.content[f"/v2/a/manifests/{digest}"] = "application/json", b"{}"
    with pytest.raises(ImageError, match="answered with sha256:44136f"):
        RegistryImage(reference(f"{registry.address}/a@{digest}"), insecure=True).content()
    registry.auth, registry.login = "basic", ("me", "x")
    with pytest.raises(ImageError, match="check the name, or the credentials"):
        RegistryImage(reference(f"{registry.address}/a:1"), insecure=True).content()


def test_status_500_of_a_registry(registry: LoopbackRegistry) -> None:
    registry.broken = True
    with pytest.raises(ImageError, match=r"answered 500 for 127.0.0.1:\d+/a@sha256:"):
        RegistryImage(reference(f"{registry.address}/a@sha256:{'0' * 64}"), insecure=True).content()


def test_unreachable_token_service(registry: LoopbackRegistry) -> None:
    registry.push("a", "1", {"amd64": []})
    registry.auth, registry.scheme = "bearer", "https"
    with pytest.raises(ImageError, match="gives no token: "):
        RegistryImage(reference(f"{registry.address}/a:1"), insecure=True).content()
