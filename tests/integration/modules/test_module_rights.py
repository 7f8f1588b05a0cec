"""Each module works with the rights of docs/rbac, and with one fewer fails and says which one it lacks."""

import contextlib
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config
from loopback_registry import loopback_registry

from local_cluster import pki
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.sender import Sender
from plugins.module_utils._resolver.api.kinds import KINDS, Kind
from rights_support import (
    CHECKOUT,
    TABLE,
    Account,
    Atom,
    Failed,
    Play,
    all_but,
    atoms,
    generate_rbac,
    granted,
    names_right,
    needed,
)

SIZE = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}

LONG = ("virtual_machine", "virtual_machine_power", "virtual_machine_snapshot", "boot_source", "controller_revision")
"""Modules whose plays take seconds for each right."""
FURTHER = pytest.mark.nightly("a further right of a long play; every fourth of them is taken away each day")


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that the API server forbids from now on, also those without which a module goes on in silence."""
    result: list[str] = []
    original = Sender._refusal

    def refusal(self: Sender, *arguments: Any) -> Any:
        error = original(self, *arguments)
        if isinstance(error, ApiError) and error.code == 403:
            result.append(error.message)
        return error

    monkeypatch.setattr(Sender, "_refusal", refusal)
    return result


@pytest.fixture(scope="module")
def account(cluster: Path) -> Iterator[Account]:
    with granted(cluster, TABLE) as made:
        yield made


def virtual_machine(play: Play) -> None:
    play.stock()
    _vm_of_template(play)
    _grown_disk(play)
    where = {"namespace": play.namespace}
    entries = [play.vm("a"), play.vm("b")]
    play.step(**where, virtual_machines=entries, wait=True)
    bigger = {"domain": {"cpu": {"model": "host-passthrough"}}}
    play.prepare("virtual_machine", **where, **play.vm("a", template={"spec": bigger}))
    play.step(**where, **play.vm("a", template={"spec": bigger}), restart="if_required")
    play.prepare("virtual_machine", **where, **play.vm("b", template={"spec": bigger}))
    play.step(
        **where, virtual_machines=[{**item, "template": {"spec": bigger}} for item in entries], restart="if_required"
    )
    names = [{"name": item["name"]} for item in entries]
    play.step(**where, virtual_machines=names, state="absent", wait=True)
    # One object of a kind is read by its name, many by a list.
    for count in (1, 4):
        lacking = [play.vm(f"{count}-{number}", **_lacking(f"x{number}")) for number in range(count)]
        play.step(**where, virtual_machines=lacking)
    with _private_registry(play) as image:
        secrets = {"secret_ref": play.name, "cert_config_map": play.name}
        disk = {"name": "root", "import": {"registry": {"url": f"docker://{image}", **secrets}, "size": "1Gi"}}
        requested = {"infer_from_registry": True, "insecure_registry": True, "preflight": "off"}
        play.step(**where, name=f"{play.name}-c", volumes=[disk], run_strategy="Halted", **requested)


def _grown_disk(play: Play) -> None:
    def sized(size: str) -> dict[str, Any]:
        disk = {"name": "data", "import": {"blank": True, "size": size, "expand": "grow"}}
        return {"namespace": play.namespace, **play.vm("grown", volumes=[disk]), "wait": True}

    play.prepare("virtual_machine", **sized("1Gi"))
    play.step(**sized("2Gi"))


def _vm_of_template(play: Play) -> None:
    where = {"namespace": play.namespace, "name": play.name}
    vm = {"spec": {"template": {"spec": {"domain": {"devices": {}}}}}}
    play.prepare("virtual_machine_template", **where, virtual_machine=vm)
    play.step(**where, run_strategy="Halted", from_template={"name": play.name})


def virtual_machine_template(play: Play) -> None:
    play.stock()
    where = {"namespace": play.namespace}
    vms = [{"spec": {"template": {"spec": {"domain": {"devices": {}}}}}}]
    vms += [
        {"spec": {"instancetype": item["instancetype"], "preference": item["preference"], "template": item["template"]}}
        for item in (play.vm(f"x{number}", template=_lacking(f"x{number}")["template"]) for number in range(4))
    ]
    for vm in vms:
        vm["spec"]["template"]["spec"].setdefault("domain", {"devices": {}})
    play.step(**where, name=play.name, virtual_machine=vms[0], wait=True)
    play.step(
        **where,
        virtual_machine_templates=[
            {"name": f"{play.name}-{number}", "virtual_machine": vm} for number, vm in enumerate(vms)
        ],
    )
    names = [{"name": play.name}, *({"name": f"{play.name}-{number}"} for number in range(len(vms)))]
    play.step(**where, virtual_machine_templates=names, state="absent", wait=True)


def virtual_machine_template_info(play: Play) -> None:
    play.step(namespace=play.namespace)


def virtual_machine_power(play: Play) -> None:
    first, second = play.declare("a", "b", run_strategy="Manual")
    where = {"namespace": play.namespace, "wait": True}
    play.step(**where, names=[first, second], state="started")
    for state in ("paused", "unpaused", "restarted", "soft_rebooted"):
        play.step(**where, names=[first], state=state)
    try:
        play.step(namespace=play.namespace, names=[first], state="migrated")
    except Failed as refused:  # a guest that cannot migrate
        if "grant" in str(refused):
            raise
    play.step(**where, names=[first, second], state="stopped")


def virtual_machine_snapshot(play: Play) -> None:
    """Of one and of two, so that each kind is read by its name, and listed."""
    both = play.declare("a", "b", run_strategy="Halted")
    where = {"namespace": play.namespace}
    play.step(**where, names=both, snapshot="{name}-1")
    play.step(**where, names=both[:1], snapshot="{name}-2", keep={"newest": 1})
    one = {"snapshot": "{name}-2", "names": both[:1]}
    play.step(**where, **one, state="restored")
    play.step(**where, **one, state="cloned", target="{name}-copy")
    again = {"snapshot": "{name}-3", "names": both}
    play.step(**where, **again)
    play.step(**where, **again, state="restored")
    play.step(**where, **again, state="cloned", target="{name}-other")
    play.step(**where, **again, state="absent")


def virtual_machine_info(play: Play) -> None:
    names = play.declare("a")
    play.step(
        namespace=play.namespace, names=names, include=["resources", "refresh", "expansion", "diagnosis"], export={}
    )


def upgrade_info(play: Play) -> None:
    names = play.declare("a")
    play.step(namespace=play.namespace, names=names)


def capacity_info(play: Play) -> None:
    names = play.declare("a")
    play.step(namespace=play.namespace, names=names)


def estate_info(play: Play) -> None:
    """Without the right to read sizes, a VM that has none of its own is left out."""
    play.declare("a")
    _plain_vm(play)
    play.step(source="cluster", namespace=play.namespace)


def controller_revision(play: Play) -> None:
    names = play.declare("a")
    where = {"namespace": play.namespace, "names": names}
    before = play.prepare("virtual_machine_info", **where)["virtual_machines"][0]["instancetype"]["revision"]
    play.stock("4Gi")
    play.step(**where, state="refreshed", restart="always")
    play.step(**where, state="pinned", revisions_of="instancetype", revision=before)
    play.step(**where, state="unpinned")
    # Neither the VM nor its guest uses the earlier revision any more.
    play.step(**where, state="refreshed", restart="always")
    play.step(namespace=play.namespace, state="pruned")


def _declared(play: Play, **options: Any) -> None:
    for namespace, some in (({"namespace": play.namespace}, play.name), ({}, f"{play.name}-wide")):
        try:
            play.step(**namespace, name=some, **options, wait=True)
            play.step(**namespace, **_listed(play, [some, f"{some}-2"]), **options)
            play.step(**namespace, **_listed(play, [some, f"{some}-2"]), state="absent", wait=True)
        finally:
            play.prepare(play._module, **namespace, **_listed(play, [some, f"{some}-2"]), state="absent", force=True)


def _listed(play: Play, names: list[str]) -> dict[str, Any]:
    return {f"{play._module}s": [{"name": name} for name in names]}


def instancetype(play: Play) -> None:
    _declared(play, **SIZE)


def preference(play: Play) -> None:
    _declared(play)


def catalog(play: Play) -> None:
    def objects(kind: str) -> list[dict[str, Any]]:
        api = "instancetype.kubevirt.io/v1beta1"
        made = {"VirtualMachineClusterInstancetype": SIZE, "VirtualMachineClusterPreference": {}}
        return [
            {"apiVersion": api, "kind": item, "metadata": {"name": play.name}, "spec": spec}
            for item, spec in made.items()
        ]

    limit = {"name": play.name, "namespaces": [play.namespace], "gpus": False, "action": "audit"}
    for where in ({"namespaces": [play.namespace]}, {"limits": [limit]}):
        options = {"source": "definitions", "definitions": objects(""), "catalog": play.name, **where}
        try:
            play.step(**options)
            play.step(**options, state="absent")
            # In check mode: the cluster keeps its instancetypes.
            play.step(check=True, **options, common_instancetypes_deployment="disable")
        finally:
            play.prepare("catalog", **options, state="absent", force=True)


def catalog_info(play: Play) -> None:
    play.stock()
    play.step(namespace=play.namespace, used_by=True)


def revision_rollout(play: Play) -> None:
    (name,) = play.declare("fleet")
    play.stock("4Gi")
    names = [f"{play.namespace}/{name}"]
    settings = {"namespaces": [play.namespace], "names": names, "lease": f"{play.namespace}/{play.name}"}
    play.step(settings=settings)
    planned = play.prepare("revision_rollout", settings=settings)
    play.step(settings=settings, state="batch", rollout=planned["rollout"])
    play.step(settings=settings, state="reported", rollout=planned["rollout"])


def virtual_machine_adopt(play: Play) -> None:
    wide = f"{play.name}-wide"
    plain = _plain_vm(play)
    play.prepare("instancetype", name=wide, **SIZE)
    try:
        play.step(namespace=play.namespace, names=[plain], instancetypes=[wide], preferences=[])
    finally:
        play.prepare("instancetype", name=wide, state="absent", force=True)


def _plain_vm(play: Play) -> str:
    """The name of a new VM with a size of its own."""
    cores = {"spec": {"domain": {"cpu": {"sockets": 1}, "memory": {"guest": "2Gi"}, "devices": {}}}}
    name = f"{play.name}-plain"
    play.prepare("virtual_machine", namespace=play.namespace, name=name, run_strategy="Halted", template=cores)
    return name


def boot_source(play: Play) -> None:
    """Two of each, and then one, so that each kind is listed, and read by its name."""
    defaults = {"instancetype": {"name": "x"}, "preflight": "off"}
    where: dict[str, Any] = {"namespace": play.namespace, "size": "1Gi", **defaults}
    pair = [f"{play.name}-a", f"{play.name}-b"]
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for name in pair:
        play.create(KINDS["PersistentVolumeClaim"], name, spec=claim)
        play.create(KINDS["VolumeSnapshot"], name, spec={})
    for names in (pair, pair[:1]):
        for kind in ("pvc", "snapshot"):
            entries = [{"name": f"{name}-{kind}", kind: {"name": name}} for name in names]
            play.step(**where, boot_sources=entries)
        play.step(**where, boot_sources=[{"name": f"{name}-url", "url": "https://disks.example/a"} for name in names])
        image = {"image": f"disks.example/{play.name}", "query_registry": False}
        for schedule in ("@daily", "@weekly"):
            entries = [{"name": f"{name}-cron", "schedule": schedule, **image} for name in names]
            play.step(**where, boot_sources=entries)
    _private_image(play, where)
    for kind in ("url", "cron"):
        play.step(namespace=play.namespace, name=f"{pair[0]}-{kind}", state="absent")


def boot_source_info(play: Play) -> None:
    other = f"{play.namespace}-x"
    for kind in ("pvc", "snapshot", "dataSource"):
        source = {kind: {"name": play.name, "namespace": other}}
        play.create(KINDS["DataSource"], f"{play.name}-{kind.lower()}", spec={"source": source})
    with _private_registry(play) as image:
        labels = {"instancetype.kubevirt.io/default-instancetype": "x"}
        registry = {
            "url": f"docker://{image.rpartition(':')[0]}@sha256:{'0' * 64}",
            "secretRef": play.name,
            "certConfigMap": play.name,
        }
        spec = {"source": {"registry": registry}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}}
        play.create(KINDS["DataVolume"], play.name, labels=labels, spec=spec)
        play.step(namespace=play.namespace, query_registry=True, insecure_registry=True)


def _private_image(play: Play, where: dict[str, Any]) -> None:
    with _private_registry(play) as image:
        requested = {"secret_ref": play.name, "cert_config_map": play.name, "insecure_registry": True}
        play.step(**where, name=f"{play.name}-image", image=image, **requested)


def _lacking(name: str) -> dict[str, Any]:
    """Options of a VM that names objects of each kind, none of which exist."""
    sources = {
        "persistentVolumeClaim": {"claimName": name},
        "dataVolume": {"name": name},
        "configMap": {"name": name},
        "serviceAccount": {"serviceAccountName": name},
    }
    volumes = [{"name": f"v{number}", key: value} for number, (key, value) in enumerate(sources.items())]
    network = {"name": "red", "multus": {"networkName": name}}
    domain = {"devices": {"interfaces": [{"name": "red", "bridge": {}}], "disks": [{"name": "v0", "disk": {}}]}}
    spec = {"domain": domain, "volumes": volumes, "networks": [network], "priorityClassName": name}
    return {"template": {"spec": spec}, "run_strategy": "Halted"}


@contextlib.contextmanager
def _private_registry(play: Play) -> Iterator[str]:
    """An image, and a Secret and a ConfigMap for its registry, both called like the play."""
    defaults = [f"INSTANCETYPE_KUBEVIRT_IO_DEFAULT_{role}=x" for role in ("INSTANCETYPE", "PREFERENCE")]
    with loopback_registry() as registry, tempfile.TemporaryDirectory() as folder:
        registry.push("a", "1", {"amd64": defaults})
        pki.ensure(Path(folder))
        certificates = {"ca.crt": Path(folder, "ca.crt").read_text(encoding="utf-8")}
        login = {"accessKeyId": "a", "secretKey": "b"}
        play.create(Kind("Secret", "", "v1", "secrets", True), play.name, stringData=login)
        play.create(Kind("ConfigMap", "", "v1", "configmaps", True), play.name, data=certificates)
        yield f"{registry.address}/a:1"


PLAYS = {
    play.__name__: play
    for play in (
        boot_source,
        boot_source_info,
        virtual_machine,
        virtual_machine_power,
        virtual_machine_snapshot,
        virtual_machine_template,
        virtual_machine_template_info,
        virtual_machine_info,
        upgrade_info,
        capacity_info,
        estate_info,
        controller_revision,
        instancetype,
        preference,
        catalog,
        catalog_info,
        revision_rollout,
        virtual_machine_adopt,
    )
}


def test_every_module_has_a_play_and_rights() -> None:
    modules = {path.stem for path in (CHECKOUT / "plugins" / "modules").glob("*.py")}
    roles = {path.name for path in (CHECKOUT / "roles").iterdir()} - {"local_cluster"}
    assert set(PLAYS) == modules
    sources = {path.stem for path in (CHECKOUT / "extensions" / "eda" / "plugins" / "event_source").glob("*.py")}
    every = {"modules": modules, "roles": roles, "event_sources": sources}
    assert set(TABLE) == {f"{kind}/{name}" for kind, names in every.items() for name in names}


@pytest.mark.parametrize("module", PLAYS)
def test_the_rights_are_enough(account: Account, module: str, forbidden: list[str]) -> None:
    play = Play(account, atoms(f"modules/{module}"), module)
    PLAYS[module](play)
    assert not [item for item in play.warnings if "cannot" in item]
    # boot_source_info follows DataSources to a namespace where nobody has rights.
    assert [item for item in forbidden if f'namespace "{play.namespace}-x"' not in item] == []


@pytest.mark.parametrize("module", [name for name in PLAYS if any(right.without for right in TABLE[f"modules/{name}"])])
def test_optional_rights_are_optional(account: Account, module: str) -> None:
    PLAYS[module](Play(account, atoms(f"modules/{module}", optional=False), module))


@pytest.mark.parametrize(
    ("module", "lacking"),
    [
        pytest.param(module, atom, marks=FURTHER if module in LONG and number % 4 else ())
        for module in PLAYS
        for number, atom in enumerate(needed(f"modules/{module}"))
    ],
    ids=str,
)
def test_missing_right_is_named(account: Account, module: str, lacking: Atom) -> None:
    if account.may_anyway(lacking):
        pytest.skip("KubeVirt permits it to everybody")
    with pytest.raises(Failed) as failure:
        PLAYS[module](Play(account, all_but(atoms(f"modules/{module}"), lacking), module))
    assert names_right(str(failure.value), lacking), failure.value


def test_rights_are_enough_for_a_workload(account: Account, forbidden: list[str]) -> None:
    play = Play(account, atoms("modules/virtual_machine"), "virtual_machine")
    play.stock()
    labels = {
        "instancetype.kubevirt.io/default-preference": f"{play.name}-linux",
        "instancetype.kubevirt.io/default-preference-kind": "VirtualMachinePreference",
        "instancetype.kubevirt.io/default-instancetype": f"{play.name}-small",
        "instancetype.kubevirt.io/default-instancetype-kind": "VirtualMachineInstancetype",
    }
    source = {"spec": {"source": {"pvc": {"name": play.name, "namespace": play.namespace}}}}
    play.create(KINDS["DataSource"], play.name, metadata={"name": play.name, "labels": labels}, **source)
    play.step(namespace=play.namespace, name=play.name, workload=f"{play.name}-linux", preflight="off")
    assert forbidden == []


@pytest.mark.parametrize("optional", [True, False])
def test_rights_for_users_of_a_catalog(account: Account, forbidden: list[str], optional: bool) -> None:
    """The module reads the effect of a changed size from the guests, or else from their VMs."""
    play = Play(account, atoms("modules/catalog", optional=optional), "catalog")
    play.stock()
    users = [play.vm(f"user-{number}") for number in range(4)]
    play.prepare("virtual_machine", namespace=play.namespace, virtual_machines=users, wait=True)
    metadata = {"name": f"{play.name}-small"}
    bigger = {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}}
    api, kind = "instancetype.kubevirt.io/v1beta1", "VirtualMachineInstancetype"
    definition = {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": bigger}
    options = {"source": "definitions", "namespaces": [play.namespace], "force_conflicts": True}
    play.step(**options, definitions=[definition])
    assert bool(forbidden) is not optional


def test_manifests_match_the_table_of_rights(cluster: Path) -> None:
    with config.new_client_from_config(str(cluster)) as connection:
        rbac = client.RbacAuthorizationV1Api(connection)
        for name, rights in TABLE.items():
            manifest = yaml.safe_load(generate_rbac.manifest(name, rights))
            documents = manifest["items"] if manifest["kind"] == "List" else [manifest]
            for document in documents:
                # The cluster may have the role itself.
                named = {**document, "metadata": {"name": f"{document['metadata']['name']}-{uuid.uuid4().hex[:8]}"}}
                rbac.create_cluster_role(named, dry_run="All")
            granted = {
                (f"{resource}:{group}", verb)
                for document in documents
                for rule in document["rules"]
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
            }
            assert granted == {(f"{right.plural}:{right.group}", verb) for right in rights for verb in right.verbs}
