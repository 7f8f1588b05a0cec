"""Logins in guests that QEMU runs on a local cluster."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from kubernetes import client, config
from waiting import wait_until

NAMESPACE = "guests"
ADDRESS = "instancetypes.virtshape.io/ssh-address"
"""The annotation of a VMI whose guest can be reached."""
_OPTIONS = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "ConnectTimeout=20")
_NO_LOGIN = 255
"""The exit code of ssh that is no command's."""


class Logins(NamedTuple):
    """kubeconfig: of the cluster. folder: has the key of the guests' users, and what gives ssh a password."""

    kubeconfig: Path
    folder: Path

    def public_key(self) -> str:
        """The public key, which is made when first asked for."""
        key = self.folder / "key"
        if not key.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tests", "-f", key], check=True)
        return key.with_suffix(".pub").read_text().strip()

    def run(self, vm: str, user: str, command: str) -> str:
        """The output of a command in the guest, which may still be booting."""
        key = (f"IdentityFile={self.folder / 'key'}", "BatchMode=yes")

        def answered() -> subprocess.CompletedProcess[str] | None:
            answer = self._ssh(vm, user, command, *key)
            return None if answer.returncode == _NO_LOGIN else answer

        answer: subprocess.CompletedProcess[str] = wait_until(answered, pause=0.5)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.strip()

    def takes_password(self, vm: str, user: str, password: str) -> bool:
        """Whether the guest, which has booted, lets the user in with the password."""
        askpass = self.folder / "askpass"
        askpass.write_text("#!/bin/sh\nprintf '%s\\n' \"$GUEST_PASSWORD\"\n")
        askpass.chmod(0o700)
        given = {"SSH_ASKPASS": str(askpass), "SSH_ASKPASS_REQUIRE": "force", "GUEST_PASSWORD": password}
        options = ("PubkeyAuthentication=no", "NumberOfPasswordPrompts=1")
        return self._ssh(vm, user, "true", *options, **given).returncode == 0

    def _ssh(self, vm: str, user: str, command: str, *options: str, **given: str) -> subprocess.CompletedProcess[str]:
        host, _, port = self._address(vm).partition(":")
        arguments = [f"-o{option}" for option in (*_OPTIONS, *options)]
        return subprocess.run(
            ["ssh", *arguments, "-p", port, f"{user}@{host}", command],
            env={**os.environ, **given},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def _address(self, vm: str) -> str:
        with config.new_client_from_config(str(self.kubeconfig)) as connection:
            instances = client.CustomObjectsApi(connection)
            vmi = instances.get_namespaced_custom_object("kubevirt.io", "v1", NAMESPACE, "virtualmachineinstances", vm)
        address: str = vmi["metadata"]["annotations"][ADDRESS]
        return address
