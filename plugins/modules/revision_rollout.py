#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: revision_rollout
short_description: Internal - one step of a refresh of a fleet
version_added: 1.0.0
description:
  - For the role C(virtshape.instancetypes.revision_refresh) only; it may change in any release.
  - A run is a sequence of steps that hand on its state, RV(rollout). V(planned) reads the VMs, checks everything that a
    run needs, and decides on the batches. V(batch) waits until few enough VMs are down, refreshes the next batch, and
    waits until its VMs are healthy. V(reported) gives VMs back what they had, if the run stopped and
    O(settings.rollback) is set, and says what became of each VM.
  - The step V(batch) does not fail, so that its work is not lost. RV(stopped) says why a run ended.
author: virtshape.instancetypes contributors (@virtshape)
options:
  state:
    description: The step.
    type: str
    choices: [planned, batch, reported]
    default: planned
  settings:
    description: The variables of the role, without their prefix C(revision_refresh_); the role documents them.
    type: dict
    required: true
    suboptions:
      namespaces: {description: Namespaces of the VMs., type: list, elements: str, default: []}
      names: {description: Names of the VMs., type: list, elements: str, default: []}
      missing_names:
        description: What to do about a name without a VM.
        type: str
        choices: [fail, ignore]
        default: fail
      label_selectors: {description: Label selectors of the VMs., type: list, elements: str, default: []}
      revisions_of:
        description: Revisions to change.
        type: str
        choices: [both, instancetype, preference]
        default: both
      replace: {description: Other objects for the VMs., type: raw}
      patch: {description: A merge patch of the templates., type: raw}
      batch_size: {description: Number or percentage of the VMs in a batch., type: str, default: 20%}
      canary: {description: Number of VMs in the first batch., type: int, default: 1}
      max_unavailable: {description: Number or percentage of the VMs that may be down., type: str, default: 20%}
      max_failures: {description: Number or percentage of the VMs that may fail., type: str, default: '0'}
      lease: {description: NAMESPACE/NAME of a Lease., type: str, default: ''}
      pause: {description: Seconds between batches., type: int, default: 0}
      windows: {description: Maintenance windows., type: raw}
      deadline: {description: End of the run., type: raw}
      time_zone: {description: Time zone of both., type: raw}
      quota: {description: Whether to check quotas., type: bool, default: false}
      placement: {description: Whether to check the nodes., type: bool, default: false}
      restart:
        description: Whether to restart VMs.
        type: str
        choices: [never, if_required, always]
        default: if_required
      guest_agent: {description: Whether a healthy VM has a connected guest agent., type: bool, default: false}
      health_tasks: {description: Path of the file of health tasks., type: str, default: ''}
      health_timeout: {description: Seconds for a batch to become healthy., type: int, default: 300}
      rollback: {description: Whether to roll back if the run stops., type: bool, default: false}
      report_directory: {description: Directory for the report., type: str, default: ''}
      keep_reports: {description: Number of earlier reports to keep., type: int, default: 10}
      wait_timeout: {description: Seconds for each VM to run again., type: int, default: 120}
  rollout:
    description: The state of the run, RV(rollout) of the last step.
    type: dict
  health_problem:
    description: Why the health tasks of the last batch failed; empty if they did not.
    type: str
    default: ''
  now:
    description: The time in UTC, such as V(2026-05-01 22:00:00). Default is that of the host's clock.
    type: str
  concurrency:
    description: Number of concurrent VMs.
    type: int
    default: 16
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
seealso:
  - name: revision_refresh
    description: The role that refreshes a fleet.
    link: https://github.com/virtshape/instancetypes/blob/main/roles/revision_refresh/README.md
"""

EXAMPLES = r"""
- name: Plan a refresh
  virtshape.instancetypes.revision_rollout:
    settings:
      namespaces: [shop]
      batch_size: 10%
"""

RETURN = r"""
rollout:
  description: The state of the run, for the next step.
  type: dict
  returned: unless O(state=reported)
batches:
  description: The names of the VMs of each batch.
  type: list
  elements: list
  returned: unless O(state=reported)
batch:
  description: The VMs of the last batch, as M(virtshape.instancetypes.virtual_machine_info) returns them.
  type: list
  elements: dict
  returned: unless O(state=reported)
ended:
  description: Whether no further batch begins.
  type: bool
  returned: unless O(state=reported)
stopped:
  description: Why the run ended early, or an empty text.
  type: str
  returned: unless O(state=reported)
unchanged:
  description: Whether the run found nothing to do.
  type: bool
  returned: with O(state=reported)
result:
  description: What the role returns as C(revision_refresh_result).
  type: dict
  returned: with O(state=reported)
table:
  description: The report as lines of text.
  type: list
  elements: str
  returned: with O(state=reported)
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.cluster.additions import resources
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.cluster.forecast import forecast
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._rollout.cluster.revision_rollout import module

MODULE = module(
    forecast=forecast,
    resources=resources,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
