"""Checks the VMs, instancetypes and preferences of a repository without a cluster, as a given KubeVirt would.

python -m ansible_collections.virtshape.instancetypes.plugins.plugin_utils.check [options] PATH ...

A public command: docs/check.md describes its options, output and exit codes. The code behind it may change.
"""

from __future__ import annotations

import sys

from ._check.command import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
