# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet
short_description: A fleet of VMs in figures or as a page
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Counts what the modules that read VMs and catalogs return, such as VMs by instancetype, what they have been
    promised, how many drift, for how long and what a refresh would change, and what is unused or left over.
  - The page is one file of HTML without script, which refers to nothing else.
  - Works offline. The playbook C(virtshape.instancetypes.fleet_report) reads a cluster and writes both.
options:
  _input:
    description:
      - VMs, as M(virtshape.instancetypes.virtual_machine_info) returns them.
    type: list
    elements: dict
    required: true
  revisions:
    description:
      - What a refresh would do to them, C(virtual_machines) as M(virtshape.instancetypes.controller_revision_info)
        returns it.
    type: list
    elements: dict
    default: []
  unreferenced:
    description:
      - Revisions that no VM refers to, C(unreferenced) as that module returns it.
    type: list
    elements: dict
    default: []
  instancetypes:
    description:
      - Instancetypes, as M(virtshape.instancetypes.instancetype_info) returns them.
    type: list
    elements: dict
    default: []
  preferences:
    description:
      - Preferences, as M(virtshape.instancetypes.preference_info) returns them.
    type: list
    elements: dict
    default: []
  now:
    description:
      - The time of the report, which ages are counted from, such as V(2026-03-01T08:00:00Z). When it is made, if it is
        not given.
    type: str
  form:
    description:
      - V(data) for a dictionary, V(html) for a page.
    type: str
    choices: [data, html]
    default: data
  title:
    description:
      - Heading of the page.
    type: str
    default: Fleet report
  scope:
    description:
      - Which VMs the page is about, in words.
    type: str
    default: all namespaces
  rows:
    description:
      - How many lines a table of the page has at most. Of the VMs those come first that there is something to say of.
    type: int
    default: 1000
seealso:
  - module: virtshape.instancetypes.virtual_machine_info
  - module: virtshape.instancetypes.controller_revision_info
"""

EXAMPLES = r"""
- name: Tell how much the VMs of a file have been promised
  ansible.builtin.debug:
    msg: "{{ fleet.totals.vcpus }} vCPUs, {{ fleet.totals.memory_bytes | int | human_readable }}"
  vars:
    fleet: "{{ lookup('ansible.builtin.file', 'vms.json') | from_json | virtshape.instancetypes.fleet }}"

- name: Write a page about them
  ansible.builtin.copy:
    content: >-
      {{ lookup('ansible.builtin.file', 'vms.json') | from_json
         | virtshape.instancetypes.fleet(form='html', title='The shop', scope='namespace shop') }}
    dest: fleet.html
    mode: "0644"
"""

RETURN = r"""
_value:
  description:
    - The page, or with O(form=data) a dictionary with what follows. Sizes are those at the next start, with what is
      captured; memory is in bytes.
    - C(totals), with C(virtual_machines), C(running), C(vcpus), C(memory_bytes), C(vcpus_running),
      C(memory_bytes_running), C(drifted), C(unknown) (whether they drift cannot be told), C(problems) (what they would
      get cannot be told), C(refused), C(restart_required), C(unused), C(deprecated), C(orphaned_revisions) and
      C(kept_revisions).
    - C(instancetypes) and C(preferences), each with C(kind), C(namespace), C(name), C(deprecated), C(virtual_machines),
      C(running), C(drifted), C(vcpus) and C(memory_bytes); VMs without one come last, with an empty name.
    - C(drift), with C(by_age) (C(age), C(virtual_machines)), C(by_change) (C(changes), C(needs) and the
      C(virtual_machines) that would change so) and C(refused).
    - C(restart_required), the VMs as NAMESPACE/NAME.
    - C(unused) and C(deprecated), instancetypes and preferences with C(kind), C(namespace), C(name), C(catalog),
      C(catalog_version), C(deprecated) and C(used_by).
    - C(orphaned_revisions), which are of no VM that there is, and C(kept_revisions), which are of one, both as in
      O(unreferenced).
    - C(virtual_machines), what is told of each VM.
  type: raw
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import (
    checked,
    choice,
    netted,
    whole_number,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._fleet import FleetError, summary
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._pages import render

_FORM = choice("data", "html")
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def fleet(
    value: Any,
    revisions: Any = (),
    unreferenced: Any = (),
    instancetypes: Any = (),
    preferences: Any = (),
    now: Any = None,
    form: Any = "data",
    title: Any = "Fleet report",
    scope: Any = "all namespaces",
    rows: Any = 1000,
) -> Any:
    """See DOCUMENTATION."""
    lists = {
        "_input": value,
        "revisions": revisions,
        "unreferenced": unreferenced,
        "instancetypes": instancetypes,
        "preferences": preferences,
    }
    for option, entries in lists.items():
        if isinstance(entries, (str, Mapping)) or not isinstance(entries, Iterable):
            raise AnsibleFilterError(f"fleet: {option}: expected a list of what a module returned, found {entries!r}")
    form = checked("fleet", "form", form, _FORM)
    rows = checked("fleet", "rows", rows, whole_number)
    time = checked("fleet", "now", now, _moment)
    try:
        found = summary(*lists.values(), time)
    except FleetError as error:
        raise AnsibleFilterError(f"fleet: {error}") from error
    if form == "data":
        return found
    # Those that there is something to say of come first, should there be more than the table has rows.
    machines = sorted(found["virtual_machines"], key=_is_quiet)
    return render("fleet", found=found, machines=machines, title=str(title), scope=str(scope), rows=rows)


def _is_quiet(row: dict[str, Any]) -> bool:
    return not (row["drifted"] or row["restart_required"] or row["problem"])


def _moment(value: Any) -> str:
    if value is None:
        return datetime.now(timezone.utc).strftime(_TIME)
    try:
        return datetime.strptime(str(value), _TIME).strftime(_TIME)
    except ValueError:
        raise ValueError(f"{value!r} is not a time; write a time such as 2026-03-01T08:00:00Z") from None


class FilterModule:
    def filters(self) -> dict:
        return netted({"fleet": fleet})
