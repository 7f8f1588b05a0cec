# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ends a module in one line on a Python that is too old; imported before anything that would not load there."""

from __future__ import annotations

import json
import sys

OLDEST = (3, 9)

if sys.version_info < OLDEST:
    found = "{} is Python {}.{}".format(sys.executable, *sys.version_info[:2])
    needed = "the modules of virtshape.instancetypes need {}.{} or newer".format(*OLDEST)
    words = f"{found}; {needed}: set ansible_python_interpreter"
    print(json.dumps({"failed": True, "msg": words}))  # pylint: disable=ansible-bad-function
    sys.exit(1)  # pylint: disable=ansible-bad-function
