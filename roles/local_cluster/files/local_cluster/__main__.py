"""`python -m local_cluster`: see `cli`."""

from __future__ import annotations

import sys

from local_cluster.cli import main

sys.exit(main())
