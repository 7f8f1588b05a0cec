# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How hard the cluster is asked, and for how long; `_cluster/entry/argument_spec.py` has the same options."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  retry_timeout:
    description:
      - Seconds during which a request is repeated that failed because the server was busy or could not be reached.
      - The pauses grow from 0.1 to 5 seconds; where the server says how long to wait, it is not asked earlier.
    type: int
    default: 60
  qps:
    description:
      - Number of requests a second that the task sends at most, repeated ones among them, such as C(20) or C(0.5).
        After a rest as many as that may go out at once.
      - No limit when it is not given; the server then says when it is too much.
    type: float
"""
