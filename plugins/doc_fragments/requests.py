# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How hard the cluster is asked, and for how long; `_cluster/entry/options.py` has the same options."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  retry_timeout:
    description:
      - Seconds during which the task retries a request that failed because the server was busy or unreachable.
      - The pauses between retries grow from 0.1 to 5 seconds. The task respects the C(Retry-After) of the server.
    type: int
    default: 60
  qps:
    description:
      - Maximum number of requests per second, including retries, such as C(20) or C(0.5). After a pause the task may
        send that many requests at once.
      - By default the task does not limit itself, and the server throttles the task.
    type: float
"""
