"""The judgements of the API server's admission and of the resolver on pods and claims."""

import contextlib
import gzip
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
# The resolver is pure: it needs neither Ansible nor its place in `ansible_collections`.
sys.path[:0] = [str(CHECKOUT / "plugins" / "module_utils")]

from random_quotas import CONTRADICTORY, NAMESPACES, PRIORITY_CLASSES, contradiction, namespace  # noqa: E402

from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.quota.budget import (  # noqa: E402
    Quota,
    QuotaItem,
    claim,
    from_manifest,
    resource_quota,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.quota.limit_range import (  # noqa: E402
    Defaults,
    defaulted,
    defaults_by_order,
    defaults_of,
    invalid,
    violations,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import parse  # noqa: E402

Manifest = dict[str, Any]
Case = dict[str, Any]

RECORDED = Path(__file__).parent / "recorded.json.gz"
_SENTINEL = "seen"
_TIMEOUT = 30.0
# The second of two LimitRanges comes first in one of eight requests.
_TRIES = 40


def ours(given: Manifest) -> Case:
    """{objects, used}: of each object {verdict, quotas, resources}, and what is used of each quota in the end.

    verdict: admitted, invalid, limits or quota. quotas: those that refuse it. resources: those of the containers of a
    pod that is admitted.
    """
    quotas = list(map(resource_quota, given["quotas"]))
    ranges = given["limit_ranges"]
    objects = [_judged(_item(item), _defaults(ranges)[0], ranges, quotas) for item in given["objects"]]
    used = {quota.name: _positive(quota.used) for quota in quotas}
    return {"objects": objects, "used": used}


def ours_in_any_order(given: Manifest) -> list[list[Case]]:
    """The answers that each object may get when it is created alone, as in `ours`."""
    ranges = given["limit_ranges"]
    return [
        _distinct(
            _judged(_item(item), known, ranges, list(map(resource_quota, given["quotas"])))
            for known in _defaults(ranges)
        )
        for item in given["objects"]
    ]


def _defaults(ranges: list[Manifest]) -> list[Defaults]:
    return defaults_by_order(list(map(defaults_of, ranges)))


def _distinct(cases: Iterable[Case]) -> list[Case]:
    return [json.loads(text) for text in sorted({json.dumps(case, sort_keys=True) for case in cases})]


def _item(manifest: Manifest) -> QuotaItem:
    if manifest["kind"] == "Pod":
        return from_manifest(manifest)
    spec = manifest["spec"]
    return claim(manifest["metadata"]["name"], spec["resources"]["requests"]["storage"], spec["storageClassName"])


def _judged(item: QuotaItem, known: Defaults, ranges: list[Manifest], quotas: list[Quota]) -> Case:
    item = defaulted(item, known)
    if any(invalid(item)):
        return {"verdict": "invalid"}
    if any(violations(item, limit_range) for limit_range in ranges):
        return {"verdict": "limits"}
    problems = [problem for quota in quotas for problem in quota.problems([item])]
    if problems:
        return {"verdict": "quota", "quotas": sorted({problem.split()[1] for problem in problems})}
    for quota in quotas:
        quota.count([[item]], (), admitted=True)
    return {"verdict": "admitted", "resources": [_resources(entry) for entry in item.containers]}


def _resources(container: Any) -> Case:
    return {
        kind: {name: amount.nanos for name, amount in sorted(amounts.items())}
        for kind, amounts in (("limits", container.limits), ("requests", container.requests))
    }


def _positive(amounts: dict[str, int]) -> dict[str, int]:
    return {name: amount for name, amount in sorted(amounts.items()) if amount}


def differences(said: Case, got: Case) -> Iterator[str]:
    """The differences between the resolver (got) and the API server (said)."""
    for number, (expected, result) in enumerate(zip(said["objects"], got["objects"])):
        if not same(expected, result):
            yield f"object {number}: API server {expected}, we {result}"
    if said["used"] != got["used"]:
        yield f"used: API server {said['used']}, we {got['used']}"


def same(said: Case, got: Case) -> bool:
    """Whether the resolver (got) says what the API server said, which names the first quota that refuses."""
    if set(said.get("quotas", ())) <= set(got.get("quotas", ())):
        got = {**got, "quotas": said.get("quotas")}
    return bool({"quotas": None, **said} == {"quotas": None, **got})


def unexpected(said: list[list[Case]], got: list[list[Case]]) -> Iterator[str]:
    """Answers of the API server that the resolver has for no order of the LimitRanges."""
    for number, (answers, known) in enumerate(zip(said, got)):
        for answer in answers:
            if not any(same(answer, item) for item in known):
                yield f"object {number}: API server {answer}, we {known}"


def recorded() -> dict[str, Any]:
    """{created, tried}: what the API server said of the namespaces with the seeds 0, 1, ..., and of those in which
    LimitRanges contradict each other."""
    result: dict[str, Any] = json.loads(gzip.decompress(RECORDED.read_bytes())) if RECORDED.exists() else {}
    return result


def write(said: dict[str, Any]) -> None:
    """Keeps what the API server said."""
    RECORDED.write_bytes(gzip.compress(json.dumps(said, separators=(",", ":")).encode(), mtime=0))


def judge(kubeconfig: Path, amount: int = NAMESPACES, contradictory: int = CONTRADICTORY) -> dict[str, Any]:
    """The API server's answers: all objects are created, one after the other, in namespaces that are deleted after.
    Where LimitRanges contradict each other, they are created many times as dry runs, which count nothing.

    kube-controller-manager, which would write the status of a new quota, need not run: the status is written here.
    From then on admission itself counts what is used.
    """
    from kubernetes import config

    with config.new_client_from_config(str(kubeconfig)) as connection:
        server = _Server(connection, f"quota-{time.time_ns():x}")
        try:
            server.classes()
            given = {f"{server.prefix}-{seed}": namespace(seed) for seed in range(amount)}
            odd = {f"{server.prefix}-odd-{seed}": contradiction(seed) for seed in range(contradictory)}
            for name, item in {**given, **odd}.items():
                server.prepare(name, item)
            server.settle()
            return {
                "created": [server.answer(name, item) for name, item in given.items()],
                "tried": [server.tried(name, item) for name, item in odd.items()],
            }
        finally:
            server.clean()


class _Server:
    """An API server, asked without the client's models."""

    def __init__(self, connection: Any, prefix: str) -> None:
        self._connection, self.prefix = connection, prefix
        self._made: list[str] = []

    def send(self, verb: str, path: str, body: Manifest | None = None) -> tuple[int, Manifest]:
        kind = "application/merge-patch+json" if verb == "PATCH" else "application/json"
        configuration = self._connection.configuration
        token = configuration.get_api_key_with_prefix("BearerToken", "authorization")
        headers = {"Content-Type": kind, "Accept": "application/json", **({"Authorization": token} if token else {})}
        text = json.dumps(body) if body is not None else None
        pool = self._connection.rest_client.pool_manager
        answer = pool.request(verb, f"{configuration.host}{path}", headers=headers, body=text)
        return answer.status, json.loads(answer.data)

    def _create(self, path: str, body: Manifest) -> None:
        code, answer = self.send("POST", path, body)
        if code not in (200, 201):
            raise RuntimeError(f"{path}: {answer.get('message')} {json.dumps(body)}")

    def classes(self) -> None:
        for value, name in enumerate(PRIORITY_CLASSES):
            body = {"metadata": {"name": name}, "value": value + 1}
            code, answer = self.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", body)
            if code not in (200, 201, 409):
                raise RuntimeError(answer.get("message"))

    def prepare(self, name: str, given: Manifest) -> None:
        """A namespace with its quotas, none of which is used yet, and limit ranges."""
        self._create("/api/v1/namespaces", {"metadata": {"name": name}})
        self._made.append(name)
        here = f"/api/v1/namespaces/{name}"
        for limits in given["limit_ranges"]:
            self._create(f"{here}/limitranges", limits)
        for quota in given["quotas"]:
            self._create(f"{here}/resourcequotas", quota)
            hard = quota["spec"]["hard"]
            status = {"status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
            code, answer = self.send("PATCH", f"{here}/resourcequotas/{quota['metadata']['name']}/status", status)
            if code != 200:
                raise RuntimeError(answer.get("message"))

    def settle(self) -> None:
        """Waits until admission has seen everything: it reads from caches that get all changes of a kind in order."""
        last = {
            "quotas": [{"metadata": {"name": _SENTINEL}, "spec": {"hard": {"count/configmaps": "0"}}}],
            "limit_ranges": [
                {"metadata": {"name": _SENTINEL}, "spec": {"limits": [{"type": "Pod", "max": {"memory": "1"}}]}}
            ],
        }
        self.prepare(f"{self.prefix}-last", last)
        here = f"/api/v1/namespaces/{self.prefix}-last"
        pod = {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "x", "image": "x"}]}}
        for path, body, sign in (
            (f"{here}/configmaps?dryRun=All", {"metadata": {"name": "x"}}, "exceeded quota"),
            (f"{here}/pods?dryRun=All", pod, "maximum memory"),
        ):
            self._wait_until(lambda path=path, body=body: self.send("POST", path, body)[1].get("message", ""), sign)
        # Pods need the ServiceAccount that a controller makes.
        for name in self._made:
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            self._wait_until(lambda account=account: self.send("GET", account)[1].get("kind", ""), "ServiceAccount")

    def _wait_until(self, ask: Any, sign: str) -> None:
        end = time.monotonic() + _TIMEOUT
        while sign not in (said := ask()):
            if time.monotonic() > end:
                raise RuntimeError(f"the API server never said {sign!r} but {said!r}")
            time.sleep(0.1)

    def answer(self, name: str, given: Manifest) -> Case:
        """The API server's values of `ours`."""
        here = f"/api/v1/namespaces/{name}"
        objects = []
        for item in given["objects"]:
            code, said = self.send(
                "POST", f"{here}/{'pods' if item['kind'] == 'Pod' else 'persistentvolumeclaims'}", item
            )
            objects.append(_read(item, code, said))
        _code, quotas = self.send("GET", f"{here}/resourcequotas")
        used = {
            quota["metadata"]["name"]: _positive(
                {key: parse(text).nanos for key, text in (quota["status"].get("used") or {}).items()}
            )
            for quota in quotas["items"]
        }
        return {"objects": objects, "used": used}

    def tried(self, name: str, given: Manifest) -> list[list[Case]]:
        """The different answers of the API server to each object."""
        path = f"/api/v1/namespaces/{name}/pods?dryRun=All"
        return [
            _distinct(_read(item, *self.send("POST", path, item)) for _number in range(_TRIES))
            for item in given["objects"]
        ]

    def clean(self) -> None:
        for name in self._made:
            with contextlib.suppress(Exception):
                self.send("DELETE", f"/api/v1/namespaces/{name}")


def _read(given: Manifest, code: int, said: Manifest) -> Case:
    if code in (200, 201):
        containers = [
            container for field in ("containers", "initContainers") for container in said["spec"].get(field) or ()
        ]
        return {"verdict": "admitted", "resources": [_stored(item["resources"]) for item in containers]}
    message = said["message"]
    if said.get("reason") == "Invalid":
        return {"verdict": "invalid"}
    for sign in ("exceeded quota: ", "failed quota: "):
        if sign in message:
            return {"verdict": "quota", "quotas": [message.partition(sign)[2].partition(",")[0].partition(":")[0]]}
    if "usage per" in message or "ratio per" in message:
        return {"verdict": "limits"}
    raise RuntimeError(f"{message} {json.dumps(given)}")


def _stored(resources: Manifest) -> Case:
    return {
        kind: {name: parse(text).nanos for name, text in sorted((resources.get(kind) or {}).items())}
        for kind in ("limits", "requests")
    }
