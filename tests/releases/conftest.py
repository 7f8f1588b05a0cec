"""The tests that start a cluster of each release of KubeVirt that can be built."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "integration" / "modules"))
