"""VMs as lines of a table."""

import pytest

from plugins.module_utils._cluster.modules.vm_table import human_duration


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        # Answers of k8s.io/apimachinery/pkg/util/duration, version 0.34.4.
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (599, "9m59s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (28799, "7h59m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (180000, "2d2h"),
        (691199, "7d23h"),
        (691200, "8d"),
        (63071999, "729d"),
        (63072000, "2y"),
        (63158400, "2y1d"),
        (252287999, "7y364d"),
        (252288000, "8y"),
    ],
)
def test_ages_are_those_of_kubectl(seconds: int, shown: str) -> None:
    assert human_duration(seconds) == shown
