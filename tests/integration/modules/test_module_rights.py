"""Each module works with the rights of docs/rbac, and with one fewer fails and says which one it lacks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import yaml
from kubernetes import client, config

from modules_support import execute, vm

CHECKOUT = Path(__file__).parents[3]
SIZE = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_rbac", CHECKOUT / "tools" / "generate_rbac.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


generate_rbac = _tool()
TABLE = generate_rbac.table()


class Atom(NamedTuple):
    """One verb on one resource, in a namespace or, wide, everywhere."""

    resource: str
    verb: str
    wide: bool


def atoms(name: str, *, optional: bool = True) -> list[Atom]:
    found = [
        Atom(right.resource, verb, right.wide)
        for right in TABLE[name]
        for verb in right.verbs
        if optional or not right.without
    ]
    return list(dict.fromkeys(found))


class Someone(NamedTuple):
    """A user who is given rights one by one: each is that of a group, and he is in the groups that a test says."""

    kubeconfig: str
    namespace: str

    def group(self, atom: Atom) -> str:
        return f"{self.namespace}:{atom.verb}:{atom.resource}:{'wide' if atom.wide else 'narrow'}"

    def may_anyway(self, atom: Atom) -> bool:
        """Whether everybody may."""
        with config.new_client_from_config(self.kubeconfig) as connection:
            return _may(client.AuthorizationV1Api(connection), self, atom, [])

    def run(self, rights: list[Atom] | None, module: str, **options: Any) -> dict[str, Any]:
        """A module's result with these rights; None: with all of them."""
        acting = {}
        if rights is not None:
            groups = [self.group(atom) for atom in rights] or ["nobody"]
            acting = {"impersonate_user": f"{self.namespace}-user", "impersonate_groups": groups}
        return execute(module, {"kubeconfig": self.kubeconfig, "retry_timeout": 30, **acting, **options})


@pytest.fixture(scope="module")
def someone(cluster: Path) -> Iterator[Someone]:
    made = Someone(str(cluster), f"rights-{uuid.uuid4().hex[:8]}")
    every = {atom for name in TABLE for atom in atoms(name)}
    with config.new_client_from_config(str(cluster)) as connection:
        rbac, core = client.RbacAuthorizationV1Api(connection), client.CoreV1Api(connection)
        core.create_namespace({"metadata": {"name": made.namespace}})
        for number, atom in enumerate(sorted(every)):
            _grant(rbac, made, atom, f"{made.namespace}-{number}")
        for atom in every:
            _await(client.AuthorizationV1Api(connection), made, atom)
        yield made
        for number, atom in enumerate(sorted(every)):
            if atom.wide:
                rbac.delete_cluster_role_binding(f"{made.namespace}-{number}")
                rbac.delete_cluster_role(f"{made.namespace}-{number}")
        core.delete_namespace(made.namespace)


def _grant(rbac: client.RbacAuthorizationV1Api, made: Someone, atom: Atom, name: str) -> None:
    kind, _slash, subresource = atom.resource.partition("/")
    plural, _dot, group = kind.partition(".")
    resource = f"{plural}/{subresource}" if subresource else plural
    rules = [{"apiGroups": [group], "resources": [resource], "verbs": [atom.verb]}]
    api = "rbac.authorization.k8s.io"
    subjects = [{"kind": "Group", "name": made.group(atom), "apiGroup": api}]
    role = {"kind": "ClusterRole" if atom.wide else "Role", "name": name, "apiGroup": api}
    body = {"metadata": {"name": name}, "roleRef": role, "subjects": subjects}
    if atom.wide:
        rbac.create_cluster_role({"metadata": {"name": name}, "rules": rules})
        rbac.create_cluster_role_binding(body)
    else:
        rbac.create_namespaced_role(made.namespace, {"metadata": {"name": name}, "rules": rules})
        rbac.create_namespaced_role_binding(made.namespace, body)


def _may(api: client.AuthorizationV1Api, made: Someone, atom: Atom, groups: list[str]) -> bool:
    kind, _slash, subresource = atom.resource.partition("/")
    plural, _dot, group = kind.partition(".")
    asked = {"verb": atom.verb, "group": group, "resource": plural, "subresource": subresource}
    if not atom.wide:
        asked["namespace"] = made.namespace
    groups = ["system:authenticated", *groups]
    spec = {"user": f"{made.namespace}-user", "groups": groups, "resourceAttributes": asked}
    return bool(api.create_subject_access_review({"spec": spec}).status.allowed)


def _await(api: client.AuthorizationV1Api, made: Someone, atom: Atom) -> None:
    """The API server's authorizer learns of a binding a little later."""
    for _attempt in range(600):
        if _may(api, made, atom, [made.group(atom)]):
            return
        time.sleep(0.05)
    raise AssertionError(f"{atom} does not come to be")


class Play:
    """A play of one module: `step` runs it with the rights of the test, `prepare` any module with all rights."""

    def __init__(self, someone: Someone, rights: list[Atom], module: str) -> None:
        self._someone, self._rights, self._module = someone, rights, module
        self.namespace = someone.namespace
        self.name = f"n{uuid.uuid4().hex[:8]}"
        self.warnings: list[str] = []

    def step(self, **options: Any) -> None:
        result = self._someone.run(self._rights, self._module, **options)
        self.warnings += [str(one) for one in result.get("warnings", [])]
        if result.get("failed"):
            raise Failed(str(result["msg"]))

    def prepare(self, module: str, **options: Any) -> dict[str, Any]:
        made = self._someone.run(None, module, **options)
        assert not made.get("failed"), made
        return made

    def stock(self, memory: str = "2Gi") -> None:
        sizes = {"cpu": {"guest": 1}, "memory": {"guest": memory}}
        self.prepare("instancetype", namespace=self.namespace, name=f"{self.name}-small", **sizes)
        self.prepare("preference", namespace=self.namespace, name=f"{self.name}-linux")

    def vm(self, name: str, **options: Any) -> dict[str, Any]:
        kinds = {"instancetype": "VirtualMachineInstancetype", "preference": "VirtualMachinePreference"}
        names = {"instancetype": f"{self.name}-small", "preference": f"{self.name}-linux"}
        matchers = {role: {"name": names[role], "kind": kind} for role, kind in kinds.items()}
        return {**vm(f"{self.name}-{name}"), **matchers, **options}

    def declare(self, *names: str, **options: Any) -> list[str]:
        self.stock()
        entries = [self.vm(name, **options) for name in names]
        self.prepare("virtual_machine", namespace=self.namespace, virtual_machines=entries, wait=True)
        return [entry["name"] for entry in entries]


class Failed(Exception):
    """A step of a play failed."""


def virtual_machine(play: Play) -> None:
    play.stock()
    where = {"namespace": play.namespace}
    entries = [play.vm("a"), play.vm("b")]
    play.step(**where, virtual_machines=entries, wait=True)
    bigger = {"domain": {"cpu": {"model": "host-passthrough"}}}
    play.prepare("virtual_machine", **where, **play.vm("a", template={"spec": bigger}))
    play.step(**where, **play.vm("a", template={"spec": bigger}), restart="if_required")
    play.prepare("virtual_machine", **where, **play.vm("b", template={"spec": bigger}))
    play.step(
        **where, virtual_machines=[{**one, "template": {"spec": bigger}} for one in entries], restart="if_required"
    )
    names = [{"name": one["name"]} for one in entries]
    play.step(**where, virtual_machines=names, state="absent", wait=True)


def virtual_machine_power(play: Play) -> None:
    first, second = play.declare("a", "b", run_strategy="Manual")
    where = {"namespace": play.namespace}
    play.step(**where, names=[first, second], state="started")
    for state in ("paused", "unpaused", "restarted"):
        play.step(**where, names=[first], state=state)
    play.step(**where, names=[first, second], state="stopped")


def virtual_machine_info(play: Play) -> None:
    names = play.declare("a")
    play.step(namespace=play.namespace, names=names)


def expand_info(play: Play) -> None:
    names = play.declare("a")
    play.step(namespace=play.namespace, names=names)


def controller_revision_info(play: Play) -> None:
    names = play.declare("a")
    play.step(namespace=play.namespace, names=names)


def controller_revision(play: Play) -> None:
    names = play.declare("a")
    where = {"namespace": play.namespace, "names": names}
    before = play.prepare("controller_revision_info", **where)["virtual_machines"][0]["instancetype"]["revision"]
    play.stock("4Gi")
    play.step(**where, state="refreshed", restart="always")
    play.step(**where, state="pinned", revisions_of="instancetype", revision=before)
    play.step(**where, state="unpinned")
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


def instancetype_bundle(play: Play) -> None:
    def objects(kind: str) -> list[dict[str, Any]]:
        api = "instancetype.kubevirt.io/v1beta1"
        made = {"VirtualMachineClusterInstancetype": SIZE, "VirtualMachineClusterPreference": {}}
        return [
            {"apiVersion": api, "kind": one, "metadata": {"name": play.name}, "spec": spec}
            for one, spec in made.items()
        ]

    for where in ({"namespaces": [play.namespace]}, {}):
        options = {"source": "definitions", "definitions": objects(""), "catalog": play.name, **where}
        try:
            play.step(**options)
            play.step(**options, state="absent")
        finally:
            play.prepare("instancetype_bundle", **options, state="absent", force=True)


def instancetype_info(play: Play) -> None:
    play.stock()
    play.step(namespace=play.namespace)


def preference_info(play: Play) -> None:
    play.stock()
    play.step(namespace=play.namespace)


def catalog_info(play: Play) -> None:
    play.stock()
    play.step(namespace=play.namespace)


def lease(play: Play) -> None:
    where = {"namespace": play.namespace, "name": play.name, "holder": "me"}
    play.step(**where)
    play.step(**where, state="released")


def virtual_machine_adopt(play: Play) -> None:
    wide = f"{play.name}-wide"
    cores = {"spec": {"domain": {"cpu": {"sockets": 1}, "memory": {"guest": "2Gi"}, "devices": {}}}}
    plain = {"name": f"{play.name}-a", "run_strategy": "Halted", "template": cores}
    play.prepare("virtual_machine", namespace=play.namespace, **plain)
    play.prepare("instancetype", name=wide, **SIZE)
    try:
        where = {"namespace": play.namespace, "names": [plain["name"]]}
        play.step(**where, instancetypes=[wide], preferences=[], state="adopted")
    finally:
        play.prepare("instancetype", name=wide, state="absent", force=True)


PLAYS = {
    play.__name__: play
    for play in (
        virtual_machine,
        virtual_machine_power,
        virtual_machine_info,
        expand_info,
        controller_revision_info,
        controller_revision,
        instancetype,
        preference,
        instancetype_bundle,
        instancetype_info,
        preference_info,
        catalog_info,
        lease,
        virtual_machine_adopt,
    )
}
# The local cluster serves no such verb; tests/unit holds the requests for a revision of an older version.
UNSERVED = ("/migrate", "/softreboot")
UPGRADE = "state upgraded"


def needed(module: str) -> list[Atom]:
    """What a play of the module fails without."""
    rights = [right for right in TABLE[f"modules/{module}"] if not right.without and right.purpose != UPGRADE]
    found = [Atom(right.resource, verb, right.wide) for right in rights for verb in right.verbs]
    return [atom for atom in dict.fromkeys(found) if not atom.resource.endswith(UNSERVED)]


def test_every_module_has_a_play_and_rights() -> None:
    modules = {path.stem for path in (CHECKOUT / "plugins" / "modules").glob("*.py")}
    roles = {path.name for path in (CHECKOUT / "roles").iterdir()} - {"local_cluster"}
    assert set(PLAYS) == modules
    assert set(TABLE) == {f"modules/{name}" for name in modules} | {f"roles/{name}" for name in roles}


@pytest.mark.parametrize("module", PLAYS)
def test_the_rights_are_enough(someone: Someone, module: str) -> None:
    play = Play(someone, atoms(f"modules/{module}"), module)
    PLAYS[module](play)
    assert not [one for one in play.warnings if "cannot" in one]


@pytest.mark.parametrize("module", [name for name in PLAYS if any(right.without for right in TABLE[f"modules/{name}"])])
def test_what_may_be_left_out_may(someone: Someone, module: str) -> None:
    PLAYS[module](Play(someone, atoms(f"modules/{module}", optional=False), module))


@pytest.mark.parametrize(
    ("module", "lacking"), [(module, atom) for module in PLAYS for atom in needed(module)], ids=str
)
def test_a_right_that_is_lacking_is_named(someone: Someone, module: str, lacking: Atom) -> None:
    if someone.may_anyway(lacking):
        pytest.skip("KubeVirt permits it to everybody")
    # Who may do it everywhere may do it in a namespace.
    rights = [atom for atom in atoms(f"modules/{module}") if atom[:2] != lacking[:2] or atom.wide < lacking.wide]
    with pytest.raises(Failed) as failure:
        PLAYS[module](Play(someone, rights, module))
    kind, _slash, subresource = lacking.resource.partition("/")
    plural, _dot, group = kind.partition(".")
    resource = f"{plural}/{subresource}" if subresource else plural
    told = str(failure.value)
    assert f'grant {{apiGroups: ["{group}"], resources: ["{resource}"], verbs: [' in told, told
    assert f'"{lacking.verb}"' in told.partition("grant {")[2], told


ROLES = {
    "virtual_machines": Atom("virtualmachines.kubevirt.io", "create", False),
    "common_instancetypes": Atom("virtualmachineinstancetypes.instancetype.kubevirt.io", "patch", False),
    "revision_refresh": Atom("controllerrevisions.apps", "list", False),
}
"""A right that each role fails without; the others are its modules'."""


def play_role(someone: Someone, role: str, rights: list[Atom], folder: Path) -> tuple[int, str]:
    """Exit code and output of a play with the role by a user with these rights."""
    play = Play(someone, [], "")
    size = {"instancetype": {"name": f"{play.name}-small", "kind": "VirtualMachineInstancetype"}}
    machine = {
        "name": play.name,
        "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
        **size,
    }
    variables: dict[str, Any] = {
        "virtual_machines": {"defaults": {"namespace": someone.namespace}, "list": [machine]},
        "common_instancetypes": {
            "namespaces": [someone.namespace],
            "instancetypes": ["u1.nano"],
            "preferences": ["fedora"],
        },
        "revision_refresh": {"namespaces": [someone.namespace], "names": [play.name], "restart": "always"},
    }
    if role != "common_instancetypes":
        play.stock()
    if role == "revision_refresh":
        play.prepare("virtual_machine", namespace=someone.namespace, **machine, wait=True)
        play.stock("4Gi")
    task = {
        "ansible.builtin.include_role": {"name": f"virtshape.instancetypes.{role}"},
        "vars": {f"{role}_{name}": value for name, value in variables[role].items()},
    }
    path = folder / "play.yml"
    path.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".cache" / "collections"),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "K8S_AUTH_KUBECONFIG": someone.kubeconfig,
        "K8S_AUTH_IMPERSONATE_USER": f"{someone.namespace}-user",
        "K8S_AUTH_IMPERSONATE_GROUPS": ",".join(someone.group(atom) for atom in rights),
    }
    command = [str(Path(sys.executable).parent / "ansible-playbook"), str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("role", ROLES)
def test_a_role_works_with_its_rights_and_says_which_one_it_lacks(someone: Someone, role: str, tmp_path: Path) -> None:
    rights, lacking = atoms(f"roles/{role}"), ROLES[role]
    code, output = play_role(someone, role, [atom for atom in rights if atom != lacking], tmp_path)
    told = " ".join(output.split())
    assert code != 0 and "To permit it, grant" in told and lacking.resource.partition(".")[0] in told, output
    code, output = play_role(someone, role, rights, tmp_path)
    assert code == 0, output


@pytest.mark.parametrize("state", ["migrated", "soft_rebooted"])
def test_verbs_that_the_local_cluster_lacks_are_permitted(someone: Someone, state: str) -> None:
    rights = atoms("modules/virtual_machine_power")
    play = Play(someone, rights, "virtual_machine_power")
    names = play.declare("a")
    with pytest.raises(Failed) as served:
        play.step(namespace=play.namespace, names=names, state=state)
    assert "grant" not in str(served.value)
    play._rights[:] = [atom for atom in rights if not atom.resource.endswith(UNSERVED)]
    with pytest.raises(Failed, match="grant"):
        play.step(namespace=play.namespace, names=names, state=state)


def test_the_manifests_are_valid_and_say_what_the_table_says(cluster: Path) -> None:
    with config.new_client_from_config(str(cluster)) as connection:
        rbac = client.RbacAuthorizationV1Api(connection)
        for name, rights in TABLE.items():
            manifest = yaml.safe_load(generate_rbac.manifest(name, rights))
            documents = manifest["items"] if manifest["kind"] == "List" else [manifest]
            for document in documents:
                rbac.create_cluster_role(document, dry_run="All")
            granted = {
                (f"{resource}:{group}", verb)
                for document in documents
                for rule in document["rules"]
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
            }
            assert granted == {(f"{right.plural}:{right.group}", verb) for right in rights for verb in right.verbs}
