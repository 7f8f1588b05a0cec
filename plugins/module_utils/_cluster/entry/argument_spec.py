# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of all modules; the doc fragments `auth`, `requests`, `wait` and `dry_run` describe them.

AUTH: how to reach the cluster, with the names and environment variables of kubernetes.core.
REQUESTS: rate and retries of requests.
WAIT: preflight, writes and waits.
DRY_RUN: dry runs in check mode.
These are argument specs, to be copied into a module's own (`{**AUTH, **REQUESTS, **WAIT, ...}`).
"""

from __future__ import annotations

from typing import Any, Final

from ansible.module_utils.basic import env_fallback


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
    # A path, not the key itself.
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
    "concurrency": {"type": "int", "default": 16},
    "preflight": {"type": "str", "choices": ["strict", "warn", "off"], "default": "strict"},
    "fail_fast": {"type": "bool", "default": False},
    "force_conflicts": {"type": "bool", "default": False},
    "take_over": {"type": "raw"},
}
