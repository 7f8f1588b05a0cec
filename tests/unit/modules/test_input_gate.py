"""Bad input: one line with entry, field, value and remedy, and no request."""

from typing import Any
from unittest import mock

import pytest

from plugins.module_utils._cluster.modules import adapter, virtual_machine_power
from scripted_server import VMS, Run, Store

SIZE = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
KIND = "VirtualMachineClusterInstancetype"


def refused(run: Run, module: str, **options: Any) -> str:
    store = Store({})
    result = run(module, store, **options)
    assert result["failed"] and store.asked == [], result
    message: str = result["msg"]
    assert "\n" not in message and "Traceback" not in message
    return message


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"name": ""}, "shop: name: '' is empty; write a name such as web-1"),
        ({"name": "größe"}, "shop/größe: name: 'größe' must consist of a-z"),
        ({"name": "x" * 300}, "name: 'xxxx"),
        ({"name": "a\nb"}, r"shop/'a\nb': name: 'a\nb' must consist of"),
        ({"name": "../../x"}, "shop/../../x: name: '../../x' must consist of"),
        ({"name": "web", "labels": {"a": "b c"}}, "shop/web: labels.a: 'b c' must consist of letters"),
        ({"name": "web", "namespace": "Shop"}, "Shop/web: namespace: 'Shop' must consist of"),
        ({"name": "web", "memory": "-1Gi"}, "shop/web: memory: '-1Gi' is too small; write more than 0"),
        (
            {"name": "web", "memory": "9" * 100000},
            "(100000 characters) is not a quantity; write a quantity such as 512Mi",
        ),
        (
            {"name": "web", "template": {"spec": {"nodeselector": {}}}},
            "did you mean nodeSelector? Otherwise set accept_unknown",
        ),
        ({"name": "web", "spec": {"runstrategy": "Always"}}, "shop/web: spec.runstrategy: unknown field; did"),
        (
            {"name": "web", "tolerations": [{"operator": "Exist"}]},
            "shop/web: tolerations[0].operator: 'Exist' is not",
        ),
        (
            {"name": "web", "networks": [{"mac_address": "x"}]},
            "shop/web: networks[0].mac_address: 'x' is not a MAC address; write",
        ),
        (
            {"name": "web", "termination_grace_period": -1},
            "shop/web: termination_grace_period: -1 is too small; write 0 or",
        ),
        ({"name": "web", "cpu": {"sockets": float("inf")}}, "cpu.sockets: expected a finite number"),
        ({"name": "web", "instancetype": "../x"}, "shop/web: instancetype.name: '../x' must consist of"),
        (
            {"name": "web", "boot": {"containerdisk": "a/b"}},
            "virtual_machines[3] (shop/web): boot.containerdisk: unknown option; did you mean container_disk?",
        ),
        (
            {"name": "web", "volumes": [{"name": "root", "containerdisk": "a/b"}]},
            "virtual_machines[3] (shop/web): volumes[0].containerdisk: unknown option; did you mean container_disk?",
        ),
        ({"name": "web", "instance_type": "a"}, "(shop/web): instance_type: unknown option; did you mean instancetype"),
        (
            {"name": "web", "cloud_init": {"ssh_keys": ["~/.ssh/id_ed25519.pub"]}},
            "shop/web: cloud_init.ssh_keys[0]: '~/.ssh/id_ed25519.pub' is a path, not a public key; write",
        ),
        ({"name": "web", "instancetype": ""}, "shop/web: instancetype.name: is empty"),
        (
            {"name": "web", "instancetype": {"name": "small", "infer_from_volume": "root"}},
            "parameters are mutually exclusive: name|infer_from_volume|infer found in instancetype",
        ),
        (
            {"name": "web", "run_strategy": "Alway"},
            "virtual_machines[3] (shop/web): value of run_strategy must be one of: Always, RerunOnFailure, Manual, ",
        ),
    ],
)
def test_an_invalid_entry_is_named(run: Run, entry: dict[str, Any], message: str) -> None:
    good = [{"name": f"ok-{number}"} for number in range(3)]
    assert message in refused(run, "virtual_machine", namespace="shop", virtual_machines=[*good, entry])


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        (
            "instancetype",
            {**SIZE, "memory": "4Gi"},
            "memory: expected a dictionary, found '4Gi'; write memory: {guest: ...}",
        ),
        ("virtual_machine", {"tolerations": "x"}, "tolerations[0]: expected a dictionary, found text"),
        ("virtual_machine", {"spec": [1]}, "spec: expected a dictionary, found a list"),
        (
            "virtual_machine",
            {"cloud_init": "secret"},
            "cloud_init: expected a dictionary, found text; write cloud_init: {user_data: ...}",
        ),
        (
            "virtual_machine",
            {"volumes": [{"name": "r", "import": {"data_source": "fedora"}}]},
            "volumes[0].import.data_source: expected a dictionary, found 'fedora'; write data_source: {name: ...}",
        ),
    ],
)
def test_text_instead_of_a_dictionary_is_refused(run: Run, module: str, options: dict[str, Any], message: str) -> None:
    assert refused(run, module, namespace="shop", name="a", **options) == message
    many = {f"{module}s": [{"name": "a", **options}]}
    assert refused(run, module, namespace="shop", **many) == f"{module}s[0] (shop/a): {message}"


def catalog(cpu: int, **labels: str) -> dict[str, Any]:
    series = {"web": {"sizes": {"s": {"cpu": cpu, "memory": "1Gi"}}}}
    return {"source": "definitions", "definitions": [{"labels": labels, "series": series}]}


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        ("virtual_machine_info", {"namespace": "a.b"}, "namespace: 'a.b' must consist of"),
        ("virtual_machine_info", {"namespace": "shop", "names": ["ä"]}, "names: 'ä' must consist of"),
        ("virtual_machine_info", {"concurrency": 10**9}, "concurrency: expected 1 to 256 requests, found 1000000000"),
        ("virtual_machine_info", {"concurrency": "1e999999999"}, "concurrency: expected a number, found '1e999999999'"),
        ("instancetype", {"instancetypes": [{"name": "Ä", **SIZE}]}, "Ä: name: 'Ä' must consist of"),
        ("preference", {"preferences": [{"name": "Ä"}]}, "Ä: name: 'Ä' must consist of"),
        (
            "instancetype",
            {"namespace": "shop", "name": "web", "cpu": {"guest": 1}},
            "shop/web: spec.memory.guest: required in an instancetype, for example 4Gi",
        ),
        ("catalog", catalog(1, **{"a b": "x"}), "instancetype web.s: labels: the key 'a b' must consist of"),
        ("catalog", catalog(-1), "instancetype web.s: spec.cpu.guest: -1 is not between"),
        (
            "virtual_machine",
            {"name": "a", "namespace": "b", "defaults": {}},
            "parameters are mutually exclusive: name|defaults",
        ),
        ("virtual_machine_power", {"names": ["a"], "namespace": "b", "wait_timeout": -1}, "wait_timeout: expected 0"),
        ("virtual_machine", {"name": "a", "wait_timeout": float("inf")}, "wait_timeout: expected a number, found inf"),
        ("virtual_machine", {"name": "a", "wait_timeout": float("nan")}, "wait_timeout: expected a number, found nan"),
        ("virtual_machine", {"name": "a", "cpu": {"cores": float("inf")}}, "cpu.cores: expected a finite number"),
        ("controller_revision", {"state": "pruned", "namespace": "shop", "keep": -1}, "keep: expected 0 to 1000000"),
        ("catalog", {"definitions": [], "source": "definitions", "namespaces": ["B"]}, "namespaces: 'B' must"),
    ],
)
def test_invalid_options_are_named(run: Run, module: str, options: dict[str, Any], message: str) -> None:
    assert refused(run, module, **options).startswith(message)


@pytest.mark.parametrize("entry", [{"name": "ä"}, {"name": "a", "namespace": "B"}, {"name": "a", "grace_period": -1}])
def test_a_vm_that_is_switched(run: Run, entry: dict[str, Any]) -> None:
    options = {"namespace": "shop", "state": "stopped", "force": True, "virtual_machines": [entry]}
    assert refused(run, "virtual_machine_power", **options).startswith("virtual_machines[0] (")


def declared(run: Run, **options: Any) -> dict[str, Any]:
    """The spec of the one VM that a task would create."""
    store = Store({VMS: []})
    result = run("virtual_machine", store, check=True, preflight="off", **options)
    assert not result.get("failed"), result
    [diff] = result["diff"]
    spec: dict[str, Any] = diff["after"]["spec"]
    return spec


def test_shorthand_at_the_top_and_in_entries(run: Run) -> None:
    top = declared(run, namespace="shop", name="a", instancetype="u1.small", preference="fedora", boot="fedora")
    entry = {"name": "a", "instancetype": "u1.small", "preference": "fedora", "boot": "fedora"}
    listed = declared(run, namespace="shop", virtual_machines=[entry])
    assert top == listed
    assert (top["instancetype"], top["preference"]) == ({"name": "u1.small"}, {"name": "fedora"})
    assert top["dataVolumeTemplates"][0]["spec"]["sourceRef"] == {"kind": "DataSource", "name": "fedora"}


def test_entries_over_the_top_level_over_defaults(run: Run) -> None:
    spec = declared(
        run,
        namespace="shop",
        preference="fedora",
        instancetype={"name": "u1.small", "kind": "virtualmachineclusterinstancetypes"},
        defaults={"instancetype": "u1.large", "run_strategy": "Manual", "node_selector": {"a": "1", "b": "2"}},
        virtual_machines=[{"name": "a", "preference": None, "node_selector": {"b": None}}],
    )
    assert "preference" not in spec
    assert (spec["instancetype"], spec["runStrategy"]) == ({"name": "u1.small", "kind": KIND}, "Manual")
    assert spec["template"]["spec"]["nodeSelector"] == {"a": "1"}


def test_defaults_of_ansible_do_not_override_the_users(run: Run) -> None:
    """`state` has the default `present`, which `defaults` may change."""
    store = Store({VMS: []})
    options = {"namespace": "shop", "defaults": {"state": "absent"}, "virtual_machines": [{"name": "a"}]}
    assert run("virtual_machine", store, **options)["results"][0]["action"] == "none"


def test_unknown_fields_pass_where_they_are_accepted(run: Run) -> None:
    template = {"spec": {"brandNew": {"on": True}}}
    spec = declared(run, namespace="shop", name="a", template=template, accept_unknown_fields=True)
    assert spec["template"]["spec"]["brandNew"] == {"on": True}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("a-secret"), "this is a bug in the collection (KeyError"),
        (RecursionError("a-secret"), "the options or an answer of the API server are nested more deeply"),
        (MemoryError("a-secret"), "not enough memory"),
    ],
)
def test_unforeseen_exceptions_are_reported_as_bugs(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, message: str
) -> None:
    def fail(*_arguments: Any) -> None:
        raise error

    monkeypatch.setattr(virtual_machine_power, "_selected", fail)
    result = run("virtual_machine_power", Store({}), state="stopped", namespace="b", names=["a"])
    assert result["failed"] and result["msg"].startswith(message) and "a-secret" not in result["msg"]
    if isinstance(error, KeyError):
        assert "in module_utils/_cluster/modules/virtual_machine_power.py, line " in result["msg"]
        assert "https://github.com/virtshape/instancetypes/issues" in result["msg"]


def test_an_error_of_ansible_module_is_not_caught(run: Run) -> None:
    """ansible-test stops a module like this to read its argument spec, also after a run in the same process."""
    run("virtual_machine_power", Store({}), state="stopped", namespace="b", names=["a"])
    with mock.patch.object(adapter.AnsibleModule, "__init__", side_effect=KeyError("spec")), pytest.raises(KeyError):
        adapter.run_module(virtual_machine_power.MODULE)


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        ("virtual_machine", {"name": "web", "instance_type": "a"}, "instance_type: unknown option; did you mean inst"),
        (
            "virtual_machine",
            {"name": "web", "networks": [{"macAdress": "x"}]},
            "networks[0].macAdress: unknown option; did you mean mac_",
        ),
        (
            "instancetype",
            {"name": "a", "cpu": {"gest": 1}, "memry": {}},
            "cpu.gest: unknown option; did you mean guest",
        ),
        ("instancetype", {"name": "a", "cpu": {"gest": 1}, "memry": {}}, "memry: unknown option; did you mean memory?"),
        ("virtual_machine_info", {"label_selector": ["a=b"]}, "label_selector: unknown option; did you mean label_sel"),
        ("catalog_info", {"namespce": "a"}, "namespce: unknown option; did you mean namespace"),
    ],
)
def test_unknown_options_of_every_module(run: Run, module: str, options: dict[str, Any], message: str) -> None:
    assert message in refused(run, module, **options)
