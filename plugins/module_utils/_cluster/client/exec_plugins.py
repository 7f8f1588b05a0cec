"""Exec plugins of kubeconfigs, which give credentials.

The official client waits for a plugin without an end, and logs what it printed, which may be secret. Its loader is
overridden in this one step.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from typing import Any, Final

# Seconds for which a plugin may run unless it can ask the user at a terminal.
_SECONDS: Final = 60
_HANGS: Final = (
    "{} did not end within {} s and was stopped; run it in a terminal to see what it waits for, or set api_key"
)


class PluginFailed(Exception):
    """A plugin gave no credentials. The text may be secret."""


# Commands that did not end. No command is run again for each token and each object of a task.
_hung: list[list[str]] = []


def credentials(provider: Any, cluster: Any = None) -> dict[str, Any]:
    """The `status` of an ExecCredential.

    provider: a kubernetes.config.exec_provider.ExecProvider, which has command and environment. cluster: the
    kubeconfig's cluster, if the plugin is to know it. Raises PluginFailed.
    """
    interactive = sys.stdout is not None and sys.stdout.isatty()
    spec: dict[str, Any] = {"interactive": interactive}
    if cluster is not None:
        spec["cluster"] = dict(cluster.value)
        for extension in spec["cluster"].get("extensions") or ():
            if extension["name"] == "client.authentication.k8s.io/exec":
                spec["cluster"]["config"] = extension["extension"]
    request = {"apiVersion": provider.api_version, "kind": "ExecCredential", "spec": spec}
    printed = _run(provider, interactive, {**provider.env, "KUBERNETES_EXEC_INFO": json.dumps(request)})
    try:
        answer = json.loads(printed)
    except ValueError as error:
        raise PluginFailed(f"exec: failed to decode process output: {error}") from None
    for key in ("apiVersion", "kind", "status"):
        if not isinstance(answer, dict) or key not in answer:
            raise PluginFailed(f"exec: malformed response. missing key '{key}'")
    if answer["apiVersion"] != provider.api_version:
        raise PluginFailed(f"exec: plugin api version {answer['apiVersion']} does not match {provider.api_version}")
    status = answer["status"]
    if not isinstance(status, dict):
        raise PluginFailed("exec: malformed response. status is no object")
    if "token" not in status and not {"clientCertificateData", "clientKeyData"} <= set(status):
        raise PluginFailed("exec: the plugin returned neither a token nor a certificate with its key")
    return status


def _run(provider: Any, interactive: bool, environment: dict[str, str]) -> str:
    """The output of the plugin."""
    command = provider.args
    if command in _hung:
        raise PluginFailed(_HANGS.format(command[0], _SECONDS))
    try:
        done = subprocess.run(
            command,
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if interactive else subprocess.PIPE,
            cwd=provider.cwd,
            env=environment,
            text=True,
            errors="replace",
            timeout=None if interactive else _SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        _hung.append(command)
        # The arguments may be secret.
        raise PluginFailed(_HANGS.format(command[0], _SECONDS)) from None
    except (OSError, TypeError, ValueError) as error:
        # The program is missing, or an argument is no text.
        raise PluginFailed(str(error)) from None
    if done.returncode:
        raise PluginFailed(f"exec: process returned {done.returncode}. {(done.stderr or '').strip()}")
    return done.stdout


@functools.cache
def loader_class() -> Any:
    """The official client's loader of kubeconfigs with this module's plugins. The client is imported on demand."""
    from kubernetes import config

    client: Any = config

    class Loader(client.kube_config.KubeConfigLoader):  # type: ignore[misc]
        # Why the plugin gave no credentials. Others may do, such as an option of the task.
        failure = ""

        def _load_from_exec_plugin(self) -> bool:
            if "exec" not in self._user:
                return False
            plugin, base = self._user["exec"], self._get_base_path(self._cluster.path)
            try:
                cluster = self._cluster if plugin.safe_get("provideClusterInfo") else None
                # Older clients take no cluster.
                status = credentials(client.exec_provider.ExecProvider(plugin, base), cluster)
                expiry = status.get("expirationTimestamp")
                expires = None if expiry is None else client.kube_config.parse_rfc3339(expiry)
            except (PluginFailed, client.ConfigException) as error:
                self.failure = str(error)
                return False
            except Exception as error:
                # The client does the same: other credentials may do.
                self.failure = f"exec: {type(error).__name__}: {error}"
                return False
            if "token" in status:
                self.token = f"Bearer {status['token']}"
            else:
                for attribute, key in (("cert_file", "clientCertificateData"), ("key_file", "clientKeyData")):
                    data = client.kube_config.FileOrData(
                        status, None, data_key_name=key, file_base_path=base, base64_file_content=False
                    )
                    setattr(self, attribute, data.as_file())
            if expires is not None:
                self.expiry = expires
            return True

    return Loader
