"""Limits: the verdict of ours is that of the API server, with the policies that the limits become.

VMs, instancetypes of a namespace and VMIs are created and changed by dry runs, in namespaces with random limits.
VIRTSHAPE_TEST_LIMITS is how many verdicts are compared, about; VIRTSHAPE_TEST_SEED draws others.
"""

import itertools
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.sender import Request
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import kubevirt
from plugins.module_utils._governance.checks import violations
from plugins.module_utils._governance.language import Limit, limits
from plugins.module_utils._governance.policy import limit_of, policies
from plugins.module_utils._resolver.api import behaviour
from plugins.module_utils._resolver.api.finding import ERROR, WARNING
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.api.matcher import MATCHER_FIELDS
from plugins.module_utils._resolver.catalog.errors import CatalogError
from plugins.module_utils._resolver.kubevirt.admission.mutate import admit
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

Manifest = dict[str, Any]

COUNT = int(os.environ.get("VIRTSHAPE_TEST_LIMITS", "300"))
SEED = int(os.environ.get("VIRTSHAPE_TEST_SEED", "1"))
# Limits and namespaces that are there at the same time, the VMs of a namespace, and the verdicts of all.
LIMITS, NAMESPACES, VMS, TOGETHER = 5, 4, 5, 300
VM, VMI, INSTANCETYPE, PREFERENCE = (
    "VirtualMachine",
    "VirtualMachineInstance",
    "VirtualMachineInstancetype",
    "VirtualMachinePreference",
)
SIZE, CLAIM = {"small": (1, "1Gi"), "large": (64, "256Gi")}, "boot"
NAMES = ("u1.small", "u1.medium", "u1.2xlarge", "cx1.medium", "m1.large", "gpu1.small", "gone")
_DENIED = re.compile(r"ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request: (.*)", re.DOTALL)
_WARNED = re.compile(r"Validation failed for ValidatingAdmissionPolicy '([^']+)' with binding '[^']+': (.*)", re.DOTALL)
_CONTROLLER = "system:serviceaccount:kubevirt:kubevirt-controller"
numbers = itertools.count()


class Answer(NamedTuple):
    """stored: the object was accepted.

    denied: the message of the policy that refuses it. warnings: those of policies. text: the text of any
    refusal.
    """

    stored: bool
    denied: str
    warnings: frozenset[str]
    text: str


def ask(session: Session, method: str, path: str, body: Any, content_type: str = "application/json") -> Answer:
    """The outcome of a dry run."""
    target = f"{path}?dryRun=All" + ("&fieldManager=test&force=true" if "apply" in content_type else "")
    said: dict[str, dict[str, None]] = {}
    text = ""
    try:
        data = json.dumps(body).encode()
        session._sender.once(Request(method, path, target, "application/json", said, data, content_type))
    except ApiError as error:
        text = error.message
    warnings = frozenset(match[2] for warning in said if (match := _WARNED.fullmatch(warning)))
    denied = _DENIED.search(text)
    return Answer(not text, denied[2] if denied else "", warnings, text)


class Drawn:
    """The drawn objects."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def sometimes(self, chance: float) -> bool:
        return self.random.random() < chance

    def some(self, *values: str) -> list[str]:
        return self.random.sample(values, self.random.randint(1, min(2, len(values))))

    def limit(self, number: int, batch: str, names: list[str]) -> Manifest:
        """A limit in the words of users."""
        limit: Manifest = {"name": f"l{number}-{batch}", "namespace_labels": {"batch": batch}}
        if self.sometimes(0.3):
            limit["namespaces"] = self.some(*names)
        if self.sometimes(0.3):
            limit["except_namespaces"] = self.some(*names)
        if self.sometimes(0.3):
            limit["namespace_labels"]["tier"] = self.random.choice(["gold", "standard"])
        drawn = {
            "instancetypes": lambda: self.some("u1.*", "cx1.medium", "*.small", "m1.*"),
            "series": lambda: self.some("u1", "cx1", "m1", "gpu1"),
            "classes": lambda: self.some("general.purpose", "compute.exclusive", "memory.intensive", "gpu.*"),
            "preferences": lambda: self.some("fedora*", "rhel.9", "windows*"),
            "max_cpu": lambda: self.random.choice([1, 2, 8]),
            "max_memory": lambda: self.random.choice(["2Gi", "4Gi", "8G", "1.5Gi"]),
            "gpus": lambda: False,
            "host_devices": lambda: False,
            "require": lambda: self.some("instancetype", "preference"),
        }
        limit.update({name: value() for name, value in drawn.items() if self.sometimes(0.15)})
        limit["action"] = self.random.choice(["deny", "deny", "warn", "audit"])
        return limit

    def matcher(self, names: tuple[str, ...], own: str, wide: str) -> Manifest:
        matcher: Manifest = {"name": self.random.choice(names)}
        if self.sometimes(0.2):
            return {"name": self.random.choice(list(SIZE)), "kind": self.random.choice([own, f"{own}s".lower()])}
        if self.sometimes(0.5):
            matcher["kind"] = self.random.choice([wide, wide.lower(), f"{wide}s"])
        if self.sometimes(0.1):
            uid = f"{self.random.getrandbits(128):032x}"
            uid = "-".join((uid[:8], uid[8:12], uid[12:16], uid[16:20], uid[20:]))
            vm = self.random.choice(["vm", "vm", "other", "vm-1"])
            name = self.random.choice([matcher["name"], "u1.8xlarge"])
            matcher["revisionName"] = self.random.choice([f"{vm}-{name}-v1beta1-{uid}-1", f"{vm}-{name}-{uid}-2", "x"])
        return matcher

    def devices(self) -> Manifest:
        devices: Manifest = {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]}
        if self.sometimes(0.15):
            devices["gpus"] = [{"name": "a", "deviceName": "nvidia.com/A100"}]
        if self.sometimes(0.1):
            devices["hostDevices"] = [{"name": "b", "deviceName": "intel.com/qat"}]
        return devices

    def sizes(self) -> Manifest:
        """The sizes of a guest's own."""
        domain: Manifest = {}
        if self.sometimes(0.6):
            domain["cpu"] = {
                field: self.random.choice(values)
                for field, values in {
                    "sockets": [1, 2, 4],
                    "cores": [1, 2, 4],
                    "threads": [1, 2],
                    "maxSockets": [4, 8, 16],
                }.items()
                if self.sometimes(0.5)
            }
        if self.sometimes(0.6):
            domain["memory"] = {"guest": self.random.choice(["1Gi", "2048Mi", "3Gi", "8G", "1610612736", "64Gi"])}
            if self.sometimes(0.3):
                domain["memory"]["maxGuest"] = self.random.choice(["64Gi", "4Gi"])
        for kind in ("requests", "limits"):
            if self.sometimes(0.3):
                amounts = {"cpu": ["1", "1500m", "4", 2, "0.5"], "memory": ["1Gi", "2G", "5Gi", 1073741824]}
                chosen = {name: self.random.choice(values) for name, values in amounts.items() if self.sometimes(0.6)}
                domain.setdefault("resources", {})[kind] = chosen
        return domain

    def vm(self, namespace: str, name: str = "vm") -> Manifest:
        spec: Manifest = {"runStrategy": "Halted"}
        domain: Manifest = {"devices": self.devices()}
        inferred = {"inferFromVolume": "root"}
        if self.sometimes(0.6):
            matcher = self.matcher(NAMES, INSTANCETYPE, "VirtualMachineClusterInstancetype")
            spec["instancetype"] = inferred if self.sometimes(0.2) else matcher
        if not spec.get("instancetype") or self.sometimes(0.1):
            domain.update(self.sizes())
        if self.sometimes(0.5):
            names = ("fedora", "rhel.9", "windows.11", "ubuntu")
            matcher = self.matcher(names, PREFERENCE, "VirtualMachineClusterPreference")
            spec["preference"] = inferred if self.sometimes(0.2) else matcher
        volumes = [{"name": "root", "persistentVolumeClaim": {"claimName": CLAIM}}]
        template = {"spec": {"domain": domain, "volumes": volumes}}
        if self.sometimes(0.3):
            template["metadata"] = {"labels": {"a": self.random.choice("bc")}}
        return _manifest(VM, namespace, name, {**spec, "template": template})

    def vmi(self, namespace: str) -> Manifest:
        return _manifest(
            VMI,
            namespace,
            "vmi",
            {
                "domain": {"devices": self.devices(), **self.sizes()},
                "volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": CLAIM}}],
            },
        )

    def instancetype(self, namespace: str, name: str = "own") -> Manifest:
        spec: Manifest = {
            "cpu": {"guest": self.random.choice([1, 2, 8, 9, 64])},
            "memory": {"guest": self.random.choice(["1Gi", "2Gi", "2048Mi", "8G", "1.5Gi", 1610612736, "64Gi"])},
        }
        if self.sometimes(0.2):
            spec["gpus"] = [{"name": "a", "deviceName": "nvidia.com/A100"}]
        if self.sometimes(0.2):
            spec["hostDevices"] = [{"name": "a", "deviceName": "intel.com/qat"}]
        return _manifest(INSTANCETYPE, namespace, name, spec)


def _manifest(kind: str, namespace: str, name: str, spec: Manifest) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata, "spec": spec}


def create(session: Session, manifest: Manifest) -> Manifest:
    kind, metadata = KINDS[manifest["kind"]], manifest["metadata"]
    path = f"{kind.path(metadata.get('namespace'), metadata['name'])}"
    query = {"fieldManager": "test", "force": "true"}
    stored: Manifest = session.request("PATCH", path, query, manifest, content_type="application/apply-patch+yaml")
    return stored


@pytest.fixture(scope="module")
def catalog(session: Session) -> Iterator[list[Manifest]]:
    """The cluster's instancetypes and preferences, and an instancetype with a GPU."""
    kinds = [KINDS[matcher_field.cluster_kind] for matcher_field in MATCHER_FIELDS]
    gpu = _bare(kinds[0].kind, "gpu1.small")
    gpu["metadata"]["labels"] = {"instancetype.kubevirt.io/class": "gpu.compute"}
    devices = {"gpus": [{"name": "a", "deviceName": "nvidia.com/A100"}]}
    create(session, {**gpu, "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, **devices}})
    yield [{**item, "kind": kind.kind} for kind in kinds for item in session.list(kind)]
    session.request("DELETE", kinds[0].path(None, "gpu1.small"))


class Batch:
    """Namespaces with VMs, and limits that are in force. before: the VMs that are there, by namespace."""

    def __init__(self, session: Session, drawn: Drawn, catalog: list[Manifest]) -> None:
        self.session, self.drawn = session, drawn
        self.id = f"{SEED}-{next(numbers)}-{int(time.time()) % 100000}"
        names = [f"limits-{number}-{self.id}" for number in range(NAMESPACES)]
        tiers = {name: drawn.random.choice(["gold", "standard", ""]) for name in names}
        self.labels = {name: {"batch": self.id, **({"tier": tiers[name]} if tiers[name] else {})} for name in names}
        self.objects, self.there, self.limits, self.made = [*catalog], {}, [], []
        for name in names:
            self._namespace(name)
        while len(self.limits) < LIMITS:
            try:
                self.limits += limits([drawn.limit(len(self.limits), self.id, names)], catalog)
            except CatalogError:
                # It limits nothing, or permits nothing.
                continue
        # The last; when it is in force, so are the others.
        canary = Limit(f"canary-{self.id}", (names[0],), max_cpu=1000, action="deny", preferences=["canary"])
        for limit in [*self.limits, canary._replace(namespaces=[f"canary-{self.id}"])]:
            for manifest in policies(limit, "test", _CONTROLLER):
                assert limit_of(manifest) in (limit, None)
                self.made.append(KINDS[manifest["kind"]].path(None, manifest["metadata"]["name"]))
                create(session, manifest)
        self._await(f"canary-{self.id}")

    def _namespace(self, name: str) -> None:
        self.there[name] = []
        self.made.append(KINDS["Namespace"].path(None, name))
        create(self.session, {**_bare("Namespace", name), "metadata": {"name": name, "labels": self.labels[name]}})
        claim = _manifest(
            "PersistentVolumeClaim",
            name,
            CLAIM,
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}},
        )
        claim["metadata"]["labels"] = {
            "instancetype.kubevirt.io/default-instancetype": self.drawn.random.choice(NAMES[:-1]),
            "instancetype.kubevirt.io/default-preference": self.drawn.random.choice(["fedora", "ubuntu"]),
        }
        own = [
            _manifest(INSTANCETYPE, name, size, {"cpu": {"guest": cpu}, "memory": {"guest": memory}})
            for size, (cpu, memory) in SIZE.items()
        ]
        own += [_manifest(PREFERENCE, name, size, {}) for size in SIZE]
        for item in (claim, *own):
            create(self.session, item)
            self.objects.append(item)
        for number in range(VMS):
            for _attempt in range(20):
                vm = self.drawn.vm(name, f"vm-{number}")
                path = KINDS[VM].path(name, f"vm-{number}")
                if ask(self.session, "PATCH", path, vm, "application/apply-patch+yaml").stored:
                    create(self.session, vm)
                    self.there[name].append(vm)
                    break
        self.there[name].append(self.drawn.instancetype(name, "changed"))
        create(self.session, self.there[name][-1])

    def _await(self, name: str) -> None:
        create(self.session, _bare("Namespace", name))
        self.made.append(KINDS["Namespace"].path(None, name))
        vm = self.drawn.vm(name)
        vm["spec"].pop("instancetype", None)
        vm["spec"]["preference"] = {"name": "fedora"}
        vm["spec"]["template"]["spec"]["domain"] = {"devices": {}, "memory": {"guest": "1Gi"}}
        vm["spec"]["template"]["spec"]["volumes"] = []
        for _unused in range(100):
            answer = ask(self.session, "POST", KINDS[VM].path(name), vm)
            if answer.denied:
                return
            time.sleep(0.1)
        raise AssertionError(f"the policies are not in force: {answer}")

    def close(self) -> None:
        for path in reversed(self.made):
            self.session.request("DELETE", path)

    def compared(self, number: int) -> tuple[str, str]:
        """The compared object, and the difference or ""."""
        drawn, random = self.drawn, self.drawn.random
        namespace = random.choice(list(self.there))
        if number % 12 == 0:
            return self._judged("VMI", drawn.vmi(namespace), None)
        if number % 6 == 0:
            return self._judged("instancetype", drawn.instancetype(namespace), None)
        live = random.choice(self.there[namespace])
        if number % 2:
            return self._judged("new VM", drawn.vm(namespace), None)
        if live["kind"] == INSTANCETYPE:
            return self._judged("changed instancetype", drawn.instancetype(namespace, "changed"), live)
        name = live["metadata"]["name"]
        after = drawn.vm(namespace, name)
        # Some change little, as most changes do.
        for field in ("instancetype", "preference"):
            if drawn.sometimes(0.5):
                after["spec"].pop(field, None)
                after["spec"].update({field: live["spec"][field]} if field in live["spec"] else {})
        if drawn.sometimes(0.5):
            after["spec"]["template"]["spec"]["domain"] = live["spec"]["template"]["spec"]["domain"]
        return self._judged("changed VM", after, live)

    def _judged(self, what: str, manifest: Manifest, live: Manifest | None) -> tuple[str, str]:
        kind, metadata = KINDS[manifest["kind"]], manifest["metadata"]
        path = kind.path(metadata["namespace"], None if live is None else metadata["name"])
        stored = None if live is None else self.session.request("GET", path)
        if stored is None:
            answer = ask(self.session, "POST", path, manifest)
        else:
            # An apply leaves what others own in a matcher: the name that was inferred, before 1.5 the revision's name.
            shares = not kubevirt(self.session).release.has(behaviour.CAPTURES_IN_STATUS) or any(
                "inferFromVolume" in (manifest["spec"].get(field) or {}) for field in ("instancetype", "preference")
            )
            way = self.drawn.random.choice(["put", "patch"] if shares else ["put", "patch", "apply"])
            what = f"{what} by {way}"
            if way == "apply":
                answer = ask(self.session, "PATCH", path, manifest, "application/apply-patch+yaml")
            elif way == "patch":
                steps = [{"op": "replace", "path": "/spec", "value": manifest["spec"]}]
                answer = ask(self.session, "PATCH", path, steps, "application/json-patch+json")
            else:
                whole = {**stored, "spec": manifest["spec"]}
                answer = ask(self.session, "PUT", path, whole)
        judged: Manifest | None = manifest
        if manifest["kind"] == VM:
            judged = admit(manifest, stored, Cluster(Objects(self.objects), kubevirt(self.session))).admitted
        result = (
            []
            if judged is None
            else list(
                violations(self.limits, judged, stored, metadata["namespace"], self.labels[metadata["namespace"]])
            )
        )
        denied = [item.line for item in result if item.severity == ERROR]
        warned = frozenset(item.line for item in result if item.severity == WARNING)
        verdict = f"{what}: {'denied' if answer.denied else 'accepted' if answer.stored else 'refused otherwise'}"
        agree = bool(denied) == bool(answer.denied)
        if manifest["kind"] != VMI:
            # The defaults of a VMI are not known here.
            agree = agree and (not denied or answer.denied in denied) and warned == answer.warnings
        if agree:
            return verdict, ""
        details = (answer, result, json.dumps(manifest), json.dumps(stored and stored["spec"]), self.limits)
        return verdict, "\n  ".join((verdict, *map(str, details)))


def _bare(kind: str, name: str) -> Manifest:
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": {"name": name}}


def test_policies_and_local_verdict_agree(session: Session, catalog: list[Manifest]) -> None:
    drawn, done, differences = Drawn(Random(SEED)), Counter[str](), []
    while done.total() < COUNT:
        batch = Batch(session, drawn, catalog)
        try:
            for number in range(min(TOGETHER, COUNT - done.total())):
                what, difference = batch.compared(number)
                done[what] += 1
                differences += [difference] if difference else []
        finally:
            batch.close()
    print("\n".join(f"{count:6} {what}" for what, count in sorted(done.items())))
    assert not differences, "\n".join([f"{len(differences)} of {done.total()} (seed {SEED}):", *differences[:5]])


def test_thousands_of_names_are_within_cels_limits(session: Session, namespace: str) -> None:
    """Four times the largest catalog; longer expressions are not stored, and costlier ones not finished."""
    names = [f"a-series-{number}.and-size" for number in range(2000)]
    limit = Limit(namespace, [namespace], instancetypes=names, preferences=names, max_cpu=4, max_memory="8Gi")
    made = [create(session, manifest) for manifest in policies(limit, "test", _CONTROLLER)]
    try:
        path, spec = (
            KINDS[VM].path(namespace),
            {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
        )

        def answer(name: str) -> Answer:
            matchers = {"instancetype": {"name": name}, "preference": {"name": names[-1]}}
            return ask(session, "POST", path, _manifest(VM, namespace, "vm", {**spec, **matchers}))

        for _unused in range(100):
            if answer("x").denied:
                break
            time.sleep(0.1)
        assert answer("x").denied.startswith("spec.instancetype.name: x is not permitted here")
        assert not answer(names[-1]).denied
    finally:
        for item in made:
            session.request("DELETE", KINDS[item["kind"]].path(None, item["metadata"]["name"]))
