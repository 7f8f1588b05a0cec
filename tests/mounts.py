"""File systems of a test's own, such as one that is soon full: in a mount namespace, which needs no administrator."""

import subprocess

OWN_MOUNTS = ("unshare", "--user", "--map-root-user", "--mount")


def may_mount() -> bool:
    try:
        tried = subprocess.run([*OWN_MOUNTS, "mount", "-t", "tmpfs", "tmpfs", "/tmp"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return tried.returncode == 0
