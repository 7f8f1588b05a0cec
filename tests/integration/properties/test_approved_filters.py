"""The server agrees with the approved answers of the filters to VMs and old manifests in tests/unit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from answers import ask
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

Manifest = dict[str, Any]

APPROVED = Path(__file__).parents[2] / "unit" / "module_utils" / "_resolver" / "approved"
EXPANSION = "/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/expand-vm-spec"


def read(name: str, namespace: str) -> Any:
    """A file of approved, in which the objects are of another namespace."""
    text = (APPROVED / name).read_text(encoding="utf-8").replace("shop", namespace)
    return yaml.safe_load(text) if name.endswith(".yml") else json.loads(text)


@pytest.fixture
def vms(session: Session, namespace: str) -> Iterator[dict[str, Manifest]]:
    """Name → VM, beside which the instancetypes, preferences and revisions exist."""
    objects = read("filters_input.yml", namespace)
    others = [item for item in objects if item["kind"] not in ("VirtualMachine", "PersistentVolumeClaim")]
    created = []
    try:
        for item in others:
            metadata = {name: value for name, value in item["metadata"].items() if name not in ("uid", "generation")}
            path = KINDS[item["kind"]].path(metadata.get("namespace"))
            session.request("POST", path, None, {**item, "metadata": metadata})
            created.append(f"{path}/{metadata['name']}")
        yield {item["metadata"]["name"]: item for item in objects if item["kind"] == "VirtualMachine"}
    finally:
        for path in created:
            session.request("DELETE", path)


def test_approved_expansions_are_the_servers(session: Session, namespace: str, vms: dict[str, Manifest]) -> None:
    approved = read("filter_expand.json", namespace)
    for name, vm in vms.items():
        ours = approved[name]
        try:
            expanded = session.request("PUT", EXPANSION.format(namespace=namespace), None, vm)
        except ApiError as error:
            # The server expands nothing that is to be inferred; the filter says how.
            assert isinstance(ours, str)
            assert error.message in ours or "pass the VM through the filter infer" in ours
        else:
            assert expanded["spec"] == ours["spec"], name


def test_approved_inference_is_the_servers(session: Session, namespace: str, vms: dict[str, Manifest]) -> None:
    claim = next(item for item in read("filters_input.yml", namespace) if item["kind"] == "PersistentVolumeClaim")
    metadata = {name: value for name, value in claim["metadata"].items() if name != "uid"}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    session.request(
        "POST", KINDS["PersistentVolumeClaim"].path(namespace), None, {**claim, "metadata": metadata, "spec": spec}
    )
    approved = read("filter_infer.json", namespace)
    answers = {}
    for name, vm in vms.items():
        spec = {"runStrategy": "Halted", **vm["spec"]}
        answers[name] = ask(session, {**vm, "metadata": {"name": name, "namespace": namespace}, "spec": spec}).stored
    assert answers["inferring"]
    for name, stored in answers.items():
        if stored is not None:
            assert matchers(stored) == matchers(approved[name]), name


def matchers(vm: Manifest) -> list[tuple[str, str]]:
    """The names and kinds of the instancetype and the preference; KubeVirt writes kinds in lower case."""
    given = [vm["spec"].get(matcher) or {} for matcher in ("instancetype", "preference")]
    return [(matcher.get("name", ""), matcher.get("kind", "").lower()) for matcher in given]


def test_modernized_manifests_are_accepted(session: Session, namespace: str) -> None:
    refused = {}
    for name, result in read("modernize.json", namespace).items():
        manifest = {**result["manifest"], "metadata": {"namespace": namespace, **result["manifest"]["metadata"]}}
        answer = ask(session, manifest)
        # The filter leaves removed bindings to the user.
        removed = [item["path"].rpartition(".")[2] for item in result.get("remaining", ())]
        reasons = [text for text in answer.messages[1:] if not any(name.title() in text for name in removed)]
        if answer.stored is None and reasons:
            refused[name] = reasons
    assert refused == {}
