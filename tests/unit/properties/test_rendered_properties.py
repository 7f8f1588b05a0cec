"""State rendered writes what a declaration sends for a new object; both refuse the same options."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from hypothesis import event, given
from hypothesis import strategies as st
from objects import INSTANCETYPES, PREFERENCES

from plugins.module_utils._cluster.writes import send as sending
from scripted_server import Store, session_with
from vm_strategies import OPTIONS

sys.path.append(str(Path(__file__).parents[2] / "integration" / "modules"))

from modules_support import execute

Manifest = dict[str, Any]

GROUP = "/apis/instancetype.kubevirt.io/v1beta1"
EMPTY = (
    "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines",
    "/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances",
    "/apis/apps/v1/namespaces/shop/controllerrevisions",
    f"{GROUP}/virtualmachineclusterinstancetypes",
    f"{GROUP}/namespaces/shop/virtualmachinepreferences",
)


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """A cluster without objects."""
    with session_with(Store({path: [] for path in EMPTY})) as session:
        yield session.host


def sent(host: str, module: str, options: Manifest) -> tuple[list[Manifest], Manifest]:
    """The objects that a declaration sends, and its result."""
    writes: list[Manifest] = []
    send = sending.send

    def record(session: Any, write: Any, *more: Any) -> Any:
        assert write.method == "PATCH"
        writes.append(write.body)
        return send(session, write, *more)

    where = {"host": host, "api_key": "scripted-token", "retry_timeout": 0, "preflight": "off"}
    with mock.patch.object(sending, "send", record):
        return writes, execute(module, {**where, **options})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rendered")


def compare(host: str, folder: Path, module: str, options: Manifest) -> None:
    declared, result = sent(host, module, options)
    # A module replaces no file that another one has rendered.
    dest = folder / f"{module}.yaml"
    rendered = execute(module, {**options, "state": "rendered", "dest": str(dest)})
    if result.get("failed"):
        event("refused")
        assert (rendered["failed"], rendered["msg"]) == (True, result["msg"])
        return
    assert not rendered.get("failed"), rendered["msg"]
    assert rendered["rendered"] == declared
    assert list(yaml.safe_load_all(dest.read_text())) == declared


@given(options=OPTIONS)
def test_rendered_vms_are_those_that_are_sent(host: str, folder: Path, options: Manifest) -> None:
    compare(host, folder, "virtual_machine", {"name": "web", "namespace": "shop", **options})


@given(
    declared=st.tuples(st.just({"name": "size"}), INSTANCETYPES, st.just("instancetype"))
    | st.tuples(st.just({"name": "guest", "namespace": "shop"}), PREFERENCES, st.just("preference"))
)
def test_rendered_types_are_those_that_are_sent(host: str, folder: Path, declared: Any) -> None:
    named, spec, module = declared
    compare(host, folder, module, {**named, "spec": spec})
