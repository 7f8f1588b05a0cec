"""Each role works with the rights of docs/rbac, and with any one fewer its play fails and says which one it lacks.

All runs of a role are hosts of one play, each with rights and objects of its own, so that Ansible starts once.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from ansible_environment import surroundings

from plugins.module_utils._resolver.api.kinds import KINDS
from rights_support import TABLE, Account, Atom, Play, all_but, atoms, granted, names_right, needed

ROLES = [name for name in TABLE if name.startswith("roles/")]
# The lines by which Ansible tells of a failed task.
FAILED = re.compile(r"^(?:fatal|failed): \[(?P<host>[^]]+)\].*? => (?P<result>\{.*\})$", re.MULTILINE)

# The options of revision_refresh that its runs differ in.
OPTIONS = {"lease": "", "rollback": False, "health_tasks": ""}
LEASE = "revision_refresh_lease"
# Other options of a VM need these rights; test_module_rights takes them away from the module.
OTHER_OPTIONS = ("from_template", "the option expand: grow")
# Whether each right is taken away, or all that is needed is there.
EACH = pytest.mark.parametrize(
    "each", [False, pytest.param(True, marks=pytest.mark.nightly("test_module_rights takes rights away each day"))]
)

Variables = dict[str, Any]


class Run(NamedTuple):
    """A host, which stands for the role with some rights. lacking: the right that it shall name, None for none.
    variables: of the host."""

    rights: list[Atom]
    lacking: Atom | None = None
    variables: Variables | None = None


@pytest.fixture(scope="module")
def account(cluster: Path) -> Iterator[Account]:
    with granted(cluster, ROLES) as made:
        yield made


def one_fewer(account: Account, role: str, but: tuple[str, ...] = ()) -> list[Run]:
    """Runs with all rights but one, for each. but: purposes of rights that only count with other options."""
    other = {Atom(right.resource, verb, right.wide) for right in of(role, *but) for verb in right.verbs}
    lacking = [atom for atom in needed(f"roles/{role}") if atom not in other and not account.may_anyway(atom)]
    return [Run(all_but(atoms(f"roles/{role}"), atom), atom) for atom in lacking]


def all_and_least(role: str) -> list[Run]:
    """A run with all rights, and a run with the needed ones alone."""
    return [Run(atoms(f"roles/{role}")), Run(atoms(f"roles/{role}", optional=False))]


def of(role: str, *purposes: str) -> list[Any]:
    return [right for right in TABLE[f"roles/{role}"] if right.purpose in purposes]


def play(account: Account, runs: dict[str, Run], role: str, steps: list[Variables], folder: Path) -> dict[str, str]:
    """Runs the role once for each step; what the hosts that failed say. steps: variables of the role, without its
    prefix."""
    include = {"ansible.builtin.include_role": {"name": f"virtshape.instancetypes.{role}"}}
    tasks = [{**include, "vars": {f"{role}_{name}": value for name, value in step.items()}} for step in steps]
    environment = {
        "K8S_AUTH_KUBECONFIG": account.kubeconfig,
        "K8S_AUTH_IMPERSONATE_USER": account.user,
        "K8S_AUTH_IMPERSONATE_GROUPS": "{{ rights }}",
    }
    book = {"hosts": "all", "gather_facts": False, "environment": environment, "tasks": tasks}
    (folder / "play.yml").write_text(yaml.safe_dump([book]))
    hosts = {
        name: {**(run.variables or {}), "rights": ",".join(account.groups(run.rights))} for name, run in runs.items()
    }
    shared = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": shared}}))
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "hosts.json", "play.yml"]
    settings = {"ANSIBLE_CALLBACK_RESULT_FORMAT": "json", "ANSIBLE_PIPELINING": "1", "ANSIBLE_FORKS": "4"}
    around = {name: value for name, value in surroundings(**settings).items() if not name.startswith("K8S_AUTH_")}
    done = subprocess.run(command, env=around, cwd=folder, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    result: dict[str, list[str]] = {}
    for matches in FAILED.finditer(done.stdout):
        result.setdefault(matches["host"], []).append(str(json.loads(matches["result"]).get("msg")))
    for name in runs:
        # Each has got to its end, or to a task that failed.
        recap = re.search(rf"^{name} +: ok=\d.* unreachable=0 +failed=(\d)", done.stdout, re.MULTILINE)
        assert recap and (recap[1] == "0") == (name not in result), (name, done.stdout, done.stderr)
    return {name: "\n".join(messages) for name, messages in result.items()}


def chosen(runs: list[Run], each: bool) -> list[Run]:
    """The runs that lack a right, or those that lack none."""
    return [run for run in runs if (run.lacking is not None) == each]


def judge(runs: dict[str, Run], failures: dict[str, str]) -> None:
    wrong = {}
    for name, run in runs.items():
        text = failures.get(name, "it did not fail")
        if run.lacking is None and name in failures:
            wrong[name] = f"fails: {text}"
        elif run.lacking is not None and not names_right(text, run.lacking):
            wrong[name] = f"without {run.lacking.verb} {run.lacking.resource}: {text}"
    assert not wrong, "\n".join(f"{name} {why}" for name, why in wrong.items())


def named(prefix: str, runs: list[Run]) -> dict[str, Run]:
    return {f"{prefix}-{number:02}": run for number, run in enumerate(runs)}


def test_every_role_is_tested() -> None:
    assert {f"test_rights_of_{name.removeprefix('roles/')}" for name in ROLES} <= set(globals())


@EACH
def test_rights_of_virtual_machines(account: Account, tmp_path: Path, each: bool) -> None:
    prepared = Play(account, [], "")
    prepared.stock()
    role = "virtual_machines"
    runs = named(prepared.name, chosen([*all_and_least(role), *one_fewer(account, role, OTHER_OPTIONS)], each))
    common = prepared.vm("")
    del common["name"]

    def step(*names: str, **options: Any) -> Variables:
        entries = [{"name": "{{ inventory_hostname }}-" + name, **options.pop(name, {})} for name in names]
        return {"defaults": {**common, "namespace": account.namespace}, "list": entries, **options}

    def processor(model: str) -> Variables:
        return {"template": {"spec": {"domain": {"cpu": {"model": model}}}}}

    steps = [
        step("a", "b"),
        # One VM is read by itself, several as a list.
        step("a", a=processor("host-model"), restart="if_required"),
        step("a", "b", a=processor("host-passthrough"), b=processor("host-model"), restart="if_required"),
        step("a", "b", state="absent"),
    ]
    judge(runs, play(account, runs, "virtual_machines", steps, tmp_path))


def test_rights_of_boot_sources(account: Account, tmp_path: Path) -> None:
    """The rights are those of the module alone, which test_module_rights takes away one by one."""
    prepared = Play(account, [], "")
    runs = named(prepared.name, all_and_least("boot_sources"))
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for name in runs:
        for part in ("a", "b"):
            prepared.create(KINDS["PersistentVolumeClaim"], f"{name}-{part}", spec=claim)
            prepared.create(KINDS["VolumeSnapshot"], f"{name}-{part}", spec={})

    def step(*parts: str, schedule: str = "@daily", **options: Any) -> Variables:
        mine = "{{ inventory_hostname }}-"
        image = {"image": "disks.example/a", "query_registry": False, "schedule": schedule}
        origins: dict[str, Any] = {"cron": image, "url": {"url": "https://disks.example/a"}}
        entries = [{"name": f"{mine}{part}-{origin}", **own} for part in parts for origin, own in origins.items()]
        existing = [
            {"name": f"{mine}{part}-{kind}", kind: {"name": f"{mine}{part}"}}
            for part in parts
            for kind in ("pvc", "snapshot")
        ]
        defaults = {"namespace": account.namespace, "size": "1Gi", "instancetype": {"name": "x"}}
        # One that the role knows, from elsewhere.
        known = {"name": f"{mine}cirros", "image": None, "schedule": None, "url": "https://disks.example/cirros"}
        overrides = {"names": ["cirros"], "overrides": {"cirros": known}}
        shared = {"defaults": defaults, "wait": False, "preflight": "off", **overrides}
        return {**shared, "list": [*entries, *(existing if options.get("state") != "absent" else ())], **options}

    steps = [step("a", "b"), step("a", schedule="@weekly"), step("a", state="absent")]
    judge(runs, play(account, runs, "boot_sources", steps, tmp_path))


@EACH
def test_rights_of_common_instancetypes(account: Account, tmp_path: Path, each: bool) -> None:
    prepared = Play(account, [], "")
    role = "common_instancetypes"
    # test_module_rights.py sets the field, in check mode: the cluster keeps its instancetypes.
    lacking = one_fewer(account, role, but=(f"{role}_deployment",))
    runs = named(prepared.name, chosen([*all_and_least(role), *lacking], each))
    catalog = tmp_path / "catalog.yml"
    catalog.write_text(
        yaml.safe_dump(
            {
                "series": {"x": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}},
                "families": {"y": {"preferences": {"linux": {}}}},
            }
        )
    )
    source = {"source": "path", "path": str(catalog), "catalog": "{{ inventory_hostname }}"}
    shared = {**source, "name_prefix": "{{ inventory_hostname }}-"}
    limit = {"name": "{{ inventory_hostname }}", "namespaces": [account.namespace], "gpus": False, "action": "audit"}
    places: list[Variables] = [{"namespace": account.namespace}, {"limits": [limit]}]
    steps = [{**shared, **place, "state": state} for place in places for state in ("present", "absent")]
    try:
        judge(runs, play(account, runs, "common_instancetypes", steps, tmp_path))
    finally:
        for module, name in (("instancetype", "x.small"), ("preference", "linux")):
            entries = [{"name": f"{host}-{name}"} for host in runs]
            prepared.prepare(module, **{f"{module}s": entries}, state="absent", force=True)


@EACH
def test_rights_of_revision_refresh(account: Account, tmp_path: Path, each: bool) -> None:
    role, prepared = "revision_refresh", Play(account, [], "")
    rights = atoms(f"roles/{role}")
    # The role reads what a VM names in its namespace.
    read = [Atom(right.resource, "list", right.wide) for right in of(role, "drift") if not right.wide]
    # The role asks for this with options only.
    patch = [Atom(right.resource, "patch", right.wide) for right in of(role, "revision_refresh_rollback")]
    leasing = [Atom(right.resource, verb, right.wide) for right in of(role, LEASE) for verb in right.verbs]
    sick = tmp_path / "sick.yml"
    sick.write_text(yaml.safe_dump([{"ansible.builtin.fail": {"msg": "it does not answer"}}]))
    back = {"rollback": True, "health_tasks": str(sick)}
    runs = [
        Run(rights, variables={"lease": f"{account.namespace}/{prepared.name}"}),
        Run([*atoms(f"roles/{role}", optional=False), *read]),
        Run([atom for atom in rights if atom not in (*patch, *leasing)]),
        *one_fewer(account, role, but=("revision_refresh_rollback", LEASE)),
        *(Run(all_but(rights, atom), atom) for atom in read),
        *(
            Run(all_but(rights, atom), atom, {"lease": f"{account.namespace}/{prepared.name}-{atom.verb}"})
            for atom in leasing
        ),
        *(Run(all_but(rights, atom), atom, back) for atom in patch),
        Run(rights, variables=back),
    ]
    hosts = named(prepared.name, chosen(runs, each))
    prepared.stock()
    entries = [{**prepared.vm(""), "name": name, "labels": {"host": name}} for name in hosts]
    made = {"namespace": account.namespace, "virtual_machines": entries, "wait": True, "wait_timeout": 300}
    prepared.prepare("virtual_machine", **made)
    prepared.stock("4Gi")
    step = {
        "namespaces": [account.namespace],
        "label_selectors": ["host={{ inventory_hostname }}"],
        "restart": "always",
        "wait_timeout": 300,
        "health_interval": 1,
        **{name: f"{{{{ {name} | default({default!r}) }}}}" for name, default in OPTIONS.items()},
    }
    result = play(account, hosts, role, [step], tmp_path)
    if not each:
        # The one that has what it needs to roll back fails too, since it had to.
        *_others, rolled_back = hosts
        message = result.pop(rolled_back)
        assert "1 rolled back" in message and "grant" not in message, message
    judge(hosts, result)
