# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How objects are checked, written and waited for; `_cluster/entry/argument_spec.py` has the same options."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  wait:
    description:
      - Whether to wait until the cluster has done what the task asks for.
    type: bool
    default: false
  wait_timeout:
    description:
      - Seconds to wait at most, for all objects of the task together. Objects that are not ready by then fail, with
        what they wait for.
    type: int
    default: 120
  concurrency:
    description:
      - Number of requests that may be under way at the same time, 1 to 256.
    type: int
    default: 16
  preflight:
    description:
      - What to make of a problem that shows before anything is sent, such as a VM that conflicts with its instancetype
        or does not meet the requirements of its preference.
      - With V(strict) the object fails and is not sent, with V(warn) it is sent with a warning, with V(off) nothing
        is checked.
    type: str
    choices:
      - strict
      - warn
      - 'off'
    default: strict
  fail_fast:
    description:
      - Whether the first object that fails stops the task. Otherwise all others are still handled, and the task fails
        at its end.
    type: bool
    default: false
  force_conflicts:
    description:
      - Whether to take over fields that another field manager owns. Otherwise such a field is an error that names the
        manager.
      - It also removes what is not declared any more although others declare it, too. Otherwise that stays, with a
        warning.
    type: bool
    default: false
  take_over:
    description:
      - Field managers whose share of the declared fields is taken over, as a list, or V(true) for those of tools that
        make an object and do not look after it, C(kubectl) (client-side apply, create, edit, patch, replace),
        C(OpenAPI-Generator), which is the Python client of modules such as M(kubernetes.core.k8s), C(virtctl) and
        Terraform.
      - Otherwise such a manager stays co-owner of what it has set, and the first change of a field fails, as
        C("OpenAPI-Generator" owns spec.instancetype.name). Nothing is taken over by default.
      - No value changes by that, and the generation does not, either. What is not declared stays with its manager; the
        results say what that is. The annotation with the last configuration of C(kubectl apply) goes as well, since a
        later C(kubectl apply) would remove by it what it does not declare any more.
    type: raw
"""
