# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of all modules, which doc fragments describe, and the VMs that the options select."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ansible.module_utils.basic import env_fallback

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import namespaced_name
from ..client.errors import TaskFailed
from ..client.session import Session
from ..reads.snapshot import unmatched
from ..task import Task
from .module import Params


def _from_environment(name: str, **spec: Any) -> dict[str, Any]:
    return {**spec, "fallback": (env_fallback, [f"K8S_AUTH_{name}"])}


AUTH: Final[dict[str, dict[str, Any]]] = {
    # The dictionary may contain secrets, but no_log would hide every "default" and "v1" in the output.
    "kubeconfig": _from_environment("KUBECONFIG", type="raw", no_log=False),
    "context": _from_environment("CONTEXT", type="str"),
    "host": _from_environment("HOST", type="str"),
    "api_key": _from_environment("API_KEY", type="str", no_log=True),
    "username": _from_environment("USERNAME", type="str"),
    "password": _from_environment("PASSWORD", type="str", no_log=True),
    "validate_certs": _from_environment("VERIFY_SSL", type="bool", aliases=["verify_ssl"]),
    "ca_cert": _from_environment("SSL_CA_CERT", type="path", aliases=["ssl_ca_cert"]),
    "client_cert": _from_environment("CERT_FILE", type="path", aliases=["cert_file"]),
    # The option is a path, not the key itself.
    "client_key": _from_environment("KEY_FILE", type="path", aliases=["key_file"], no_log=False),
    "proxy": _from_environment("PROXY", type="str"),
    "no_proxy": _from_environment("NO_PROXY", type="str"),
    "proxy_headers": {
        "type": "dict",
        # Otherwise the environment variables would count only for a task that sets proxy_headers.
        "apply_defaults": True,
        "options": {
            "basic_auth": _from_environment("PROXY_HEADERS_BASIC_AUTH", type="str", no_log=True),
            "proxy_basic_auth": _from_environment("PROXY_HEADERS_PROXY_BASIC_AUTH", type="str", no_log=True),
            "user_agent": _from_environment("PROXY_HEADERS_USER_AGENT", type="str"),
        },
    },
    "impersonate_user": _from_environment("IMPERSONATE_USER", type="str"),
    "impersonate_groups": _from_environment("IMPERSONATE_GROUPS", type="list", elements="str"),
}

REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "retry_timeout": {"type": "int", "default": 60},
    "qps": {"type": "float"},
}

DRY_RUN: Final[dict[str, dict[str, Any]]] = {"server_dry_run": {"type": "bool", "default": True}}

WAIT: Final[dict[str, dict[str, Any]]] = {
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 120},
}
CONCURRENCY: Final[dict[str, dict[str, Any]]] = {"concurrency": {"type": "int", "default": 16}}
PREFLIGHT: Final[dict[str, dict[str, Any]]] = {
    "preflight": {"type": "str", "choices": ["strict", "warn", "off"], "default": "strict"},
}
FAIL_FAST: Final[dict[str, dict[str, Any]]] = {"fail_fast": {"type": "bool", "default": False}}
OWNERSHIP: Final[dict[str, dict[str, Any]]] = {
    "force_conflicts": {"type": "bool", "default": False},
    "take_over": {"type": "raw"},
}


# Which VMs a module is about.
SELECTION: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
}


def select_vms(params: Params, session: Session, task: Task, required: bool = False) -> list[dict[str, Any]]:
    """The VMs that SELECTION's options select, in order.

    A name that does not exist fails the task. Another option that selects nothing adds a warning, unless required. In
    check mode both are warnings.
    """
    vms, problem = _selected(params, session)
    if problem:
        report_unmatched(problem, task, required or bool(params["names"]))
    return vms


def _selected(params: Params, session: Session) -> tuple[list[dict[str, Any]], str]:
    """The selected VMs, in order; and why the options select nothing, or not all names, else ""."""
    query = {"labelSelector": labels} if (labels := label_selector(params)) else {}
    vms = session.list(KINDS["VirtualMachine"], params["namespace"], **query)
    if params["names"] is not None:
        chosen = set(params["names"])
        vms = [vm for vm in vms if vm["metadata"]["name"] in chosen]
    problem = selection_problem(params, session, {vm["metadata"]["name"] for vm in vms})
    return sorted(vms, key=namespaced_name), problem


def report_unmatched(problem: str, task: Task, required: bool) -> None:
    """Fails the task because its options select nothing, or warns of it unless VMs are required, or in check mode."""
    if required or task.check_mode:
        task.report_missing(problem)
    else:
        task.warnings.append(problem)


def selection_problem(
    params: Params, session: Session, selected_names: Collection[str], every_name: bool = False
) -> str:
    """The message that SELECTION's options select nothing; "" if they select something.

    selected_names: the names of the selected VMs. every_name: whether each name must be found; else, with label
    selectors, names only narrow the selection.
    """
    labels = label_selector(params)
    missing = [name for name in params["names"] or [] if name not in selected_names] if every_name or not labels else []
    if selected_names and not missing:
        return ""
    return unmatched(session, params["namespace"], "virtual machine", missing, None if missing else labels)


def with_vms_to_delete(params: Params, task: Task) -> Params:
    """The options of virtual_machine, with the VMs that `names` and `label_selectors` select as `virtual_machines`.

    Fails the task if they select all VMs, or a namespace that does not exist. Names without a VM are deleted already.
    """
    names, labels = params["names"], params["label_selectors"]
    if names is None and labels is None:
        return params
    if params["state"] != "absent":
        option = "names" if labels is None else "label_selectors"
        raise TaskFailed(f"{option}: only valid with state absent; declare VMs with name or virtual_machines")
    check_selection(params)
    check_selector(params)
    if labels is None:
        return {**params, "virtual_machines": [{"name": name} for name in dict.fromkeys(names)]}
    vms, problem = _selected(params, task.connect(params))
    if problem:
        report_unmatched(problem, task, required=problem.startswith("namespace:"))
    return {**params, "virtual_machines": [{key: vm["metadata"][key] for key in ("name", "namespace")} for vm in vms]}


def check_selector(params: Params) -> None:
    """Fails the task if neither names nor label selectors choose VMs."""
    if params["names"] is None and label_selector(params) is None:
        raise TaskFailed(
            "label_selectors: an empty list would select all virtual machines; set names or a label selector"
        )


def check_selection(params: Params) -> None:
    """Fails the task if `names` comes without `namespace`."""
    if params["names"] and not params["namespace"]:
        raise TaskFailed("namespace: required with names")


def label_selector(params: Params) -> str | None:
    return ",".join(filter(str.strip, params["label_selectors"] or [])) or None
