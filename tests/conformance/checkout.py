"""The place of the checkout; an import of this puts `_resolver` and what tests share on the path.

The resolver is pure and needs neither Ansible nor the collection's place in `ansible_collections`.
"""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

sys.path[:0] = [str(CHECKOUT / folder) for folder in ("plugins/module_utils", "tests")]
