"""Support of the tests of docs/rbac: the table, a user who is given its rights one by one, and plays of one module."""

import contextlib
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kubernetes import client, config
from loaded_files import load

from modules_support import execute, vm
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api import write
from plugins.module_utils._resolver.api.kinds import Kind

CHECKOUT = Path(__file__).parents[3]


generate_rbac = load(CHECKOUT / "tools" / "generate_rbac.py")
TABLE = generate_rbac.table()
# KubeVirt stores no revision of an older version any more; tests/unit holds the requests for one.
UPGRADE = "state upgraded"
# The local cluster has no CDI to upload to; tests/boot_sources holds these requests.
UPLOAD = "upload"
# Only another KubeVirt needs requests; test_module_virtual_machine_plug_requests.py takes their rights away.
PLUG = "hotpluggable volumes"
# Whether the cluster is so fast is nothing to rely on.
MAY_FAIL = "the task fails unless the state is reached immediately"


class Atom(NamedTuple):
    """One verb on one resource, in a namespace or, wide, everywhere."""

    resource: str
    verb: str
    wide: bool

    @property
    def right(self) -> Any:
        """A right in the table's form."""
        return generate_rbac.Right(self.resource, (self.verb,), "", "", self.wide)


def atoms(name: str, *, optional: bool = True) -> list[Atom]:
    """The rights of a module or role. optional: also those that may be left out in any case."""
    result = [
        Atom(right.resource, verb, right.wide)
        for right in TABLE[name]
        for verb in right.verbs
        if optional or right.without in ("", MAY_FAIL)
    ]
    return list(dict.fromkeys(result))


def needed(name: str) -> list[Atom]:
    """The rights without which a play of a module or role fails."""
    rights = [
        right
        for right in TABLE[name]
        if not right.without and right.purpose != UPGRADE and not right.purpose.startswith((UPLOAD, PLUG))
    ]
    return list(dict.fromkeys(Atom(right.resource, verb, right.wide) for right in rights for verb in right.verbs))


def all_but(rights: list[Atom], lacking: Atom) -> list[Atom]:
    # A user who may do it everywhere may do it in a namespace.
    return [atom for atom in rights if atom[:2] != lacking[:2] or atom.wide < lacking.wide]


def names_right(message: str, atom: Atom) -> bool:
    """Whether a message says to grant it."""
    rule = f'grant {{apiGroups: ["{atom.right.group}"], resources: ["{atom.right.plural}"], verbs: ['
    return any(f'"{atom.verb}"' in rest.partition("]")[0] for rest in message.split(rule)[1:])


class Account(NamedTuple):
    """A user who is given rights one by one: each is that of a group, and he is in the groups that a test says."""

    kubeconfig: str
    namespace: str

    def group(self, atom: Atom) -> str:
        return f"{self.namespace}:{atom.verb}:{atom.resource}:{'wide' if atom.wide else 'narrow'}"

    def may_anyway(self, atom: Atom) -> bool:
        """Whether everybody may."""
        with config.new_client_from_config(self.kubeconfig) as connection:
            return _may(client.AuthorizationV1Api(connection), self, atom, [])

    @property
    def user(self) -> str:
        return f"{self.namespace}-user"

    def groups(self, rights: list[Atom]) -> list[str]:
        """The groups of someone who has these rights and no others."""
        return [self.group(atom) for atom in rights] or ["nobody"]

    def run(self, rights: list[Atom] | None, module: str, check: bool = False, **options: Any) -> dict[str, Any]:
        """A module's result with these rights; None: with all of them."""
        acting = {}
        if rights is not None:
            acting = {"impersonate_user": self.user, "impersonate_groups": self.groups(rights)}
        return execute(module, {"kubeconfig": self.kubeconfig, "retry_timeout": 30, **acting, **options}, check=check)


@contextlib.contextmanager
def granted(cluster: Path, names: Iterable[str]) -> Iterator[Account]:
    """Account who can be given any right of these modules and roles of the table, in a namespace of his own."""
    made = Account(str(cluster), f"rights-{uuid.uuid4().hex[:8]}")
    every = {atom for name in names for atom in atoms(name)}
    with config.new_client_from_config(str(cluster)) as connection:
        rbac, core = client.RbacAuthorizationV1Api(connection), client.CoreV1Api(connection)
        core.create_namespace({"metadata": {"name": made.namespace}})
        for number, atom in enumerate(sorted(every)):
            _grant(rbac, made, atom, f"{made.namespace}-{number}")
        for atom in every:
            _await(client.AuthorizationV1Api(connection), made, atom)
        try:
            yield made
        finally:
            for number, atom in enumerate(sorted(every)):
                if atom.wide:
                    rbac.delete_cluster_role_binding(f"{made.namespace}-{number}")
                    rbac.delete_cluster_role(f"{made.namespace}-{number}")
            core.delete_namespace(made.namespace)


def _grant(rbac: client.RbacAuthorizationV1Api, made: Account, atom: Atom, name: str) -> None:
    rules = [{"apiGroups": [atom.right.group], "resources": [atom.right.plural], "verbs": [atom.verb]}]
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


def _may(api: client.AuthorizationV1Api, made: Account, atom: Atom, groups: list[str]) -> bool:
    plural, _slash, subresource = atom.right.plural.partition("/")
    requested = {"verb": atom.verb, "group": atom.right.group, "resource": plural, "subresource": subresource}
    if not atom.wide:
        requested["namespace"] = made.namespace
    groups = ["system:authenticated", *groups]
    spec = {"user": made.user, "groups": groups, "resourceAttributes": requested}
    return bool(api.create_subject_access_review({"spec": spec}).status.allowed)


def _await(api: client.AuthorizationV1Api, made: Account, atom: Atom) -> None:
    """The API server's authorizer learns of a binding a little later."""
    for _attempt in range(600):
        if _may(api, made, atom, [made.group(atom)]):
            return
        time.sleep(0.05)
    raise AssertionError(f"{atom} does not come to be")


class Play:
    """A play of one module: `step` runs it with the rights of the test, `prepare` any module with all rights."""

    def __init__(self, account: Account, rights: list[Atom], module: str) -> None:
        self._account, self._rights, self._module = account, rights, module
        self.namespace = account.namespace
        self.name = f"n{uuid.uuid4().hex[:8]}"
        self.warnings: list[str] = []

    def step(self, **options: Any) -> None:
        result = self._account.run(self._rights, self._module, **options)
        self.warnings += [str(item) for item in result.get("warnings", [])]
        if result.get("failed"):
            raise Failed(str(result["msg"]))

    def prepare(self, module: str, **options: Any) -> dict[str, Any]:
        made = self._account.run(None, module, **options)
        assert not made.get("failed"), made
        return made

    def create(self, kind: Kind, name: str, **content: Any) -> None:
        """An object that no module of the collection makes."""
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, **content}
        Session({"kubeconfig": self._account.kubeconfig}).write(write.create(kind.path(self.namespace), body))

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
