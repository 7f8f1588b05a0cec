"""Simulates the kubelet of each node: its pods run immediately, and go when they are deleted."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from node.api.client import STRATEGIC_PATCH, ApiError, Client
from node.api.controller import Controller, NotYet
from node.api.events import Recorder
from node.api.informer import Informer, Key, key_of
from node.api.resources import POD
from node.kubelet import needs, network, pod_status
from node.kubelet.programs import Finder, Outcome, Program
from node.launcher_pods import LauncherPods, guest_answers, guest_of, has_left, holds_guest

Manifest = dict[str, Any]

_NOTICED: Final = 1.0  # seconds until kubelet, which looks once a second, has done with a container that ended
_FIRST_BACK_OFF: Final = 10.0
_LAST_BACK_OFF: Final = 300.0


class Kubelet(Controller):
    """Simulates the kubelets of all nodes. find: the programs that run in pods."""

    workers = 16

    def __init__(
        self,
        client: Client,
        pods: Informer,
        claims: Informer,
        launcher_pods: LauncherPods,
        nodes: Iterable[str],
        find: Finder,
    ) -> None:
        super().__init__(pods)
        self._client = client
        self._launcher_pods = launcher_pods
        self._nodes = frozenset(nodes)
        self._find = find
        self._needs = needs.Needs(client, claims)
        self._recorder = Recorder(client, "kubelet")
        self._programs: dict[str, asyncio.Task[None]] = {}  # by uid of the pod
        self._uids: dict[Key, str] = {}
        self._waiting: dict[Key, set[Key]] = defaultdict(set)  # pods by the claim that they wait for
        launcher_pods.on_vmi_change(self.queue.add)
        claims.on_change(self._claim_changed)

    def _claim_changed(self, key: Key) -> None:
        for pod in self._waiting.pop(key, ()):
            self.queue.add(pod)

    async def sync(self, key: Key) -> None:
        pod = self.cache.get(key)
        if pod is None or self._uids.get(key, pod["metadata"]["uid"]) != pod["metadata"]["uid"]:
            self._forget(key)
        if pod is None or pod["spec"].get("nodeName") not in self._nodes:
            return
        if pod["metadata"].get("deletionTimestamp"):
            await self._remove(pod)
        elif not pod_status.is_final(pod):
            await self._advance(pod)

    async def _advance(self, pod: Manifest) -> None:
        vmi = self._launcher_pods.vmi(pod) if guest_of(pod) else None
        if vmi is not None and pod_status.is_running(pod) and has_left(pod, vmi):
            await self._write(pod, pod_status.ended(pod, Outcome()))
            return
        if not pod_status.is_running(pod):
            await self._check_needs(pod)
        patch = network.change(pod) if guest_of(pod) else None
        if patch:
            pod = await self._client.patch(POD, *key_of(pod), patch)
            self.cache.observe(pod)
        if pod["metadata"]["uid"] in self._programs:
            return
        program = self._find(pod)
        answers = vmi is None or guest_answers(vmi)
        if not pod_status.is_running(pod) or pod_status.is_ready(pod) != pod_status.gates_open(pod, answers):
            pod = await self._write(pod, pod_status.running(pod, answers))
        if program is not None:
            uid = self._uids[key_of(pod)] = pod["metadata"]["uid"]
            self._programs[uid] = asyncio.create_task(self._run_program(key_of(pod), uid, program))

    async def _check_needs(self, pod: Manifest) -> None:
        """Raises NotYet for a pod that cannot run."""
        message = await self._needs.missing(pod)
        if not message:
            await self._check_images(pod)
            return
        namespace = pod["metadata"]["namespace"]
        for claim in needs.claims(pod):
            self._waiting[namespace, claim].add(key_of(pod))
        reason = "FailedMount" if "network-attachment" not in message else "FailedCreatePodSandBox"
        await self._report(pod, reason, message, pod_status.waiting(pod, message))
        raise NotYet

    async def _check_images(self, pod: Manifest) -> None:
        """Raises NotYet for a pod with an image that cannot be pulled."""
        image = needs.unreachable_image(pod)
        if not image:
            return
        message = f'Failed to pull image "{image}": lookup {image.partition("/")[0]}: no such host'
        await self._report(pod, "Failed", message, pod_status.waiting(pod, message, "ErrImagePull"))
        raise NotYet

    async def _report(self, pod: Manifest, reason: str, message: str, status: Manifest) -> None:
        """Writes once what a pod waits for: as its status, and as an event."""
        statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
        reported = ((statuses[0].get("state") or {}).get("waiting") or {}).get("message")
        if reported != message:
            await self._write(pod, status)
            about = {**pod, "apiVersion": POD.api_version, "kind": POD.kind}
            self._recorder.warning(about, reason, message)

    async def _write(self, pod: Manifest, status: Manifest) -> Manifest:
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        written = await self._client.patch(POD, *key_of(pod), patch, STRATEGIC_PATCH, "status")
        self.cache.observe(written)
        return written

    async def _remove(self, pod: Manifest) -> None:
        """Ends a pod. The one of a guest stays until the guest has shut down; the VMI's change tells."""
        vmi = self._launcher_pods.vmi(pod) if guest_of(pod) else None
        if vmi is not None and pod_status.is_running(pod) and holds_guest(pod, vmi):
            return
        self._forget(key_of(pod))
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": pod["metadata"]["uid"]},
        }
        await self._client.delete(POD, *key_of(pod), options)

    def _forget(self, key: Key) -> None:
        uid = self._uids.pop(key, "")
        task = self._programs.pop(uid, None)
        if task is not None:
            task.cancel()

    async def _run_program(self, key: Key, uid: str, program: Program) -> None:
        """Runs what is in a pod, again and again where the pod wants that."""
        while True:
            try:
                outcome = await program()
            except Exception as error:
                self.log.exception("%s/%s: its program failed", *key)
                outcome = Outcome(1, str(error) or type(error).__name__)
            pod = self.cache.get(key)
            if pod is None or pod["metadata"]["uid"] != uid:
                return
            policy = pod["spec"].get("restartPolicy", "Always")
            ends = policy == "Never" or (policy == "OnFailure" and not outcome.code)
            if ends and not outcome.reason:
                await self._insist(pod, pod_status.ended(pod, outcome))
                return
            pod = await self._insist(pod, pod_status.failed(pod, outcome))
            await asyncio.sleep(_NOTICED)
            times = pod_status.restarts(pod)
            if times:  # the first restart comes without
                seconds = min(_FIRST_BACK_OFF * 2 ** (times - 1), _LAST_BACK_OFF)
                pod = await self._insist(pod, pod_status.backing_off(pod, seconds))
                await asyncio.sleep(seconds)
            await self._insist(pod, pod_status.running(pod))

    async def _insist(self, pod: Manifest, status: Manifest) -> Manifest:
        """Writes the status, however often it takes while the pod is there."""
        while True:
            try:
                return await self._write(pod, status)
            except ApiError as error:
                if error.code in (404, 409):
                    return pod
                self.log.warning("%s/%s: %s", *key_of(pod), error)
                await asyncio.sleep(1)
