"""Converts VMs, Templates, instancetypes and preferences in files, and compares each guest with the new one.

python -m ansible_collections.virtshape.instancetypes.plugins.plugin_utils.modernize [options] PATH ...

A public command: docs/modernize.md describes its options, output and exit codes. The code behind it may change.
"""

from __future__ import annotations

import sys

from ._modernize.command import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
