"""The links of the guest: memory, crashes, agent, ports, probes, pauses, migrations, restarts, obsolete objects."""

from __future__ import annotations

from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, has_condition, name_of, namespace_of
from .._resolver.api.matcher import PREFERENCE
from .._resolver.api.name_rules import one_line
from .._resolver.api.state import OBSOLETE
from .._resolver.guest.effect import RESTART
from .._resolver.kubevirt.vm.readiness import restart_required
from .._resolver.preflight.guest_size import too_little_memory
from .ages import age
from .case import EVENT, MIGRATION, POD, VMI, Case
from .link import (
    OURS,
    Broken,
    Evidence,
    Link,
    added,
    kubectl,
    merged,
    of_condition,
    of_event,
    of_field,
    of_status,
    power_task,
    resized,
    steps,
    task,
    vm_task,
)
from .scheduling import waits_for_node
from .starting import explained, last_failure

# Longer than a guest takes to boot.
_BOOT: Final = 300.0
# Longer than most migrations take.
_MIGRATION: Final = 1800.0
_AGENT: Final = "#cloud-config\npackages: [qemu-guest-agent]\n"
_TRIES: Final = "KubeVirt tries again at growing intervals, up to 5 minutes"
_SUBRESOURCES: Final = "/apis/subresources.kubevirt.io/v1"
_RUNS_ON: Final = "the guest runs on as it is"


def _running(case: Case) -> Manifest | None:
    """The VMI with a guest."""
    phase = ((case.vmi or {}).get("status") or {}).get("phase")
    return case.vmi if phase == "Running" else None


def _guest(case: Case) -> Manifest:
    """The spec of the guest: the VMI's spec, or else the VM's."""
    spec: Manifest = (case.vmi or {}).get("spec") or case.declared_spec
    return spec


def _memory(case: Case) -> Broken | None:
    template = {"metadata": case.vm["spec"]["template"].get("metadata") or {}, "spec": _guest(case)}
    applied = {**case.vm, "spec": {**case.vm["spec"], "template": template}}
    text = too_little_memory(applied, case.drift.captured.get(PREFERENCE))
    if text is None:
        return None
    field, _colon, words = text.partition(": ")
    problem, _semicolon, remedy = words.partition("; ")
    return Broken(
        f"memory of {problem}",
        (of_field(case.vmi or case.vm, field.removeprefix("spec.template.") if case.vmi else field, words),),
        remedy,
        resized("Give the guest more memory", case),
        "the guest does not boot, and KubeVirt reports it as running",
    )


def _crash(case: Case) -> Broken | None:
    failure = (case.vm.get("status") or {}).get("startFailure") or {}
    count = failure.get("consecutiveFailCount") or 0
    if not count or case.status not in ("CrashLoopBackOff", "Starting", "Stopped"):
        return None
    retry = str(failure.get("retryAfterTimestamp") or "")
    said, counted = last_failure(case), f"{count} {'time' if count == 1 else 'times'}"
    evidence = of_status(case.vm, "startFailure", f"{count} in a row, the next try at {retry or 'any time'}")
    if said is not None:
        cause, problem = explained(said)
        words = f"the guest ended {counted} before it ran: {problem}"
        return Broken(words, (evidence, said), cause.remedy, cause.mend(case, said.message), _TRIES)
    if ended := _ended_pod(case):
        return Broken(
            f"the guest ended {counted} before it ran: {ended[0].message}", (evidence, ended[0]), *ended[1:], _TRIES
        )
    stopped = case.event(case.vmi, "Stopped") if case.vmi is not None else None
    return Broken(
        f"the guest ended {counted} before it ran",
        (evidence, *([of_event(stopped)] if stopped else [])),
        "start it once, so that VMI and pod stay with their logs: kubectl logs -c compute",
        vm_task("Start the VM once", case, {"/runStrategy": "Once", "/running": None}, restart=False),
        _TRIES,
    )


def _ended_pod(case: Case) -> tuple[Evidence, str, Manifest | None] | None:
    """Why the last pod ended, if kubelet says so, with the remedy and its task."""
    pod: Manifest = next(iter(case.pods), {})
    status = pod.get("status") or {}
    for container in status.get("containerStatuses") or ():
        state = (container.get("state") or {}).get("terminated") or {}
        if state.get("reason") == "OOMKilled":
            text = f"the container {container['name']} needed more memory than its limit"
            overhead = {"configuration": {"additionalGuestMemoryOverheadRatio": "1.5"}}
            cure = merged("Give pods more memory", "kubevirt", "kubevirt", case.kubevirt_namespace, spec=overhead)
            remedy = "let KubeVirt give pods more memory beside the guest's, or remove the limit of the VM"
            return of_status(pod, "OOMKilled", text), remedy, cure
    if status.get("phase") != "Failed" or not status.get("reason"):
        return None
    text = f"kubelet ended the pod ({status['reason']}): {one_line(status.get('message'))}"
    remedy = "free the node, or mend its device plugin, or let the VM start on another one"
    node = str(pod["spec"].get("nodeName") or "")
    return of_status(pod, str(status["reason"]), text), remedy, kubectl("See the node", "describe", "node", node)


def _probe_of(case: Case) -> Manifest:
    return _guest(case).get("readinessProbe") or {}


def _unready(case: Case) -> Manifest | None:
    """The VMI whose guest runs and is not ready, though it is not paused."""
    vmi = _running(case)
    if vmi is None or has_condition(vmi, "Ready") or has_condition(vmi, "Paused"):
        return None
    return vmi


def _agent(case: Case) -> Broken | None:
    vmi = _running(case)
    if vmi is None or has_condition(vmi, "AgentConnected") or _booting(case, vmi):
        return None
    fields = ["readinessProbe.guestAgentPing"] if "guestAgentPing" in _probe_of(case) else []
    for index, credential in enumerate(_guest(case).get("accessCredentials") or ()):
        for method, options in credential.items():
            if "qemuGuestAgent" in ((options or {}).get("propagationMethod") or {}):
                fields.append(f"accessCredentials[{index}].{method}.propagationMethod.qemuGuestAgent")
    if not fields:
        return None
    return Broken(
        f"the guest agent does not answer, which {fields[0]} needs",
        (of_field(vmi, f"spec.{fields[0]}", "needs the guest agent"),),
        "install and start qemu-guest-agent in the guest, for example by cloud-init",
        _agent_task(case),
        "the VM is never ready, and credentials do not reach the guest",
    )


def _agent_task(case: Case) -> Manifest | None:
    """Adds a script for the first boot that installs the agent; None if the task would replace another script."""
    if any(key.startswith("cloudInit") for volume in _guest(case).get("volumes") or () for key in volume):
        return None
    script = {"name": "cloudinit", "cloudInitNoCloud": {"userData": _AGENT}}
    volumes = added(case.declared_spec.get("volumes"), "/template/spec/volumes", script)
    return vm_task("Install the agent at the first boot", case, volumes)


def _booting(case: Case, vmi: Manifest) -> bool:
    moments = (vmi.get("status") or {}).get("phaseTransitionTimestamps") or ()
    since = next((item.get("phaseTransitionTimestamp") for item in moments if item.get("phase") == "Running"), "")
    return bool(since) and age(case.at, since) < _BOOT


def _port(case: Case) -> Broken | None:
    vmi, port = _unready(case), _probed_port(case)
    if vmi is None or port is None:
        return None
    interfaces = (_guest(case)["domain"].get("devices") or {}).get("interfaces") or ()
    for index, interface in enumerate(interfaces):
        ports = interface.get("ports") or ()
        if interface.get("masquerade") is None or not ports or any(item.get("port") == port for item in ports):
            continue
        field = f"spec.domain.devices.interfaces[{index}].ports"
        named = ", ".join(str(item.get("port")) for item in ports)
        return Broken(
            f"the readiness probe asks port {port}, and the interface {interface['name']} forwards only {named}",
            (of_field(vmi, field, named), of_condition(vmi, condition_of(vmi, "Ready"))),
            "add the port to those of the interface, or remove the list: then all are forwarded",
            _forwarded(case, interface["name"], port),
            "the guest runs, and neither probe nor Services reach it; the VM is never ready",
        )
    return None


def _forwarded(case: Case, name: str, port: int) -> Manifest | None:
    """A task that adds a port to an interface; None if the VM no longer declares the interface."""
    interfaces = (case.declared_spec["domain"].get("devices") or {}).get("interfaces") or ()
    for index, interface in enumerate(interfaces):
        if interface["name"] == name:
            pointer = f"/template/spec/domain/devices/interfaces/{index}/ports"
            return vm_task("Forward the port", case, added(interface.get("ports"), pointer, {"port": port}))
    return None


def _probed_port(case: Case) -> int | None:
    probe = _probe_of(case)
    port = next((probe[kind].get("port") for kind in ("tcpSocket", "httpGet") if probe.get(kind)), None)
    return port if isinstance(port, int) else None


def _probe(case: Case) -> Broken | None:
    vmi, probe = _unready(case), _probe_of(case)
    if vmi is None or not probe or _booting(case, vmi):
        return None
    event = next((case.event(pod, "Unhealthy") for pod in case.pods), None)
    return Broken(
        "the guest runs, and its readiness probe fails",
        (of_condition(vmi, condition_of(vmi, "Ready")), *([of_event(event)] if event else [])),
        "see on the console whether the guest has booted, and whether the service that the probe asks runs",
        power_task("Restart the guest", case, "restarted"),
        "Services send nothing to the guest; the VM is not ready",
    )


def _paused(case: Case) -> Broken | None:
    guest = case.vm if case.vmi is None else _running(case)
    condition = condition_of(guest or {}, "Paused")
    if guest is None or condition.get("status") != "True":
        return None
    by_user = condition.get("reason") == "PausedByUser"
    words = condition.get("message") or condition.get("reason")
    return Broken(
        "the guest is paused" if by_user else f"the guest is paused: {words}",
        (of_condition(guest, condition),),
        "let it run on" if by_user else "mend the storage of the guest, then let it run on",
        power_task("Let the guest run on", case, "unpaused"),
        "the guest stays paused: KubeVirt does not let it run on by itself",
    )


def _migration(case: Case) -> Broken | None:
    migration, vmi = case.migration, _running(case)
    if migration is None or vmi is None:
        return None
    since = migration["metadata"].get("creationTimestamp")
    target = next((pod for pod in case.pods if waits_for_node(pod)), None)
    if target is None and age(case.at, since) < _MIGRATION:
        return None
    phase = str((migration.get("status") or {}).get("phase") or "Pending")
    evidence = [of_status(migration, "phase", phase, str(since or ""))]
    words = f"takes longer than {int(_MIGRATION / 60)} minutes"
    if target is not None:
        condition = of_condition(target, condition_of(target, "PodScheduled"))
        evidence.append(condition)
        words = f"waits for a node: {'; '.join(_reasons(case, target)) or condition.message}"
    name, namespace = name_of(migration), namespace_of(migration)
    remedy = "make room on another node, or cancel the migration"
    cancels = [kubectl("Cancel the migration", "delete", "vmim", name, namespace=namespace)]
    # KubeVirt would begin another migration of a guest that is to leave its node.
    if node := (vmi.get("status") or {}).get("evacuationNodeName"):
        remedy = f"make room on another node, or shut the guest down; or end the drain of {node}, and cancel"
        path = f"{_SUBRESOURCES}/namespaces/{namespace}/virtualmachineinstances/{name_of(vmi)}/evacuate/cancel"
        raw, body = ("replace", "--raw", path, "--filename", "-"), {"evacuationNodeName": node}
        cancels.insert(0, kubectl("Let the guest stay on its node", *raw, stdin=body))
    return Broken(
        f"the migration {name} {words}",
        tuple(evidence),
        remedy,
        steps("Cancel the migration", cancels),
        f"{_RUNS_ON}; KubeVirt gives up a migration whose target finds no node, and the drain of its node waits",
    )


def _reasons(case: Case, pod: Manifest) -> list[str]:
    found = (item for item in case.node_reasons(pod) if item["reasons"])
    return [f"{', '.join(item['reasons'])} ({', '.join(item['nodes'])})" for item in found]


def _restart(case: Case) -> Broken | None:
    vmi, condition = _running(case), restart_required(case.vm)
    pending = case.drift.pending
    if vmi is None or (condition is None and pending.needs != RESTART) or pending.guest_current:
        return None
    fields = ", ".join(pending.outstanding)
    evidence = [of_condition(case.vm, condition)] if condition is not None else []
    if fields:
        evidence.append(of_field(case.vm, "spec.template.spec", f"the guest lacks {fields}"))
    return Broken(
        f"the guest lacks changes of the VM: {fields or pending.reason or 'KubeVirt asks for a restart'}",
        tuple(evidence),
        "restart the guest in a maintenance window",
        power_task("Restart the guest", case, "restarted"),
        f"{_RUNS_ON}, without the changes, until its next restart",
    )


def _obsolete(case: Case) -> Broken | None:
    for matcher_field, part in case.drift.parts.items():
        if part.object_state != OBSOLETE:
            continue
        noun, namespaced = matcher_field.name, part.kind == matcher_field.kind
        place = namespace_of(case.vm) if namespaced else ""
        evidence = Evidence(part.kind, place, part.name, "field", "metadata.labels", OBSOLETE, part.changed_at)
        options = {**case.selection, "state": "moved", "restart": "if_required"}
        replaced = {part.name: part.replacement or "NAME"}
        return Broken(
            f"the {noun} {part.name} is obsolete",
            (evidence,),
            f"move the VM to {part.replacement or f'another {noun}'}",
            task(f"Move the VM to another {noun}", f"{OURS}controller_revision", **options, replace=replaced),
            f"{_RUNS_ON}, and restarts; new VMs may not use the {noun}",
        )
    return None


MEMORY: Final = Link("memory", _memory)
LINKS: Final = (
    Link("crash", _crash),
    # A guest that is paused answers nobody.
    Link("paused", _paused, (VMI,)),
    Link("agent", _agent, (VMI,)),
    Link("port", _port, (VMI,)),
    Link("probe", _probe, (VMI, EVENT)),
    Link("migration", _migration, (MIGRATION, POD)),
    Link("restart", _restart, (VMI,)),
    Link("obsolete", _obsolete),
)
