# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Event source of Event-Driven Ansible: what becomes of the VMs of KubeVirt clusters."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCUMENTATION = r"""
---
short_description: Receive events when VMs of KubeVirt clusters drift, need a restart, cannot start, run or end
description:
  - Watches the VMs of one or many clusters and sends an event when a state begins - C(drifted), C(restart_required),
    C(revision_lost), C(deprecated_in_use), C(refused_at_next_start), C(unschedulable), C(quota_blocked),
    C(stopped_unexpectedly), C(boot_source_outdated), C(broken), C(running) - and when a VM is C(deleted).
  - C(broken) means that the VM does not run as declared; the message begins with the broken link of its diagnosis.
    While a VM does not run, it is looked at again every minute.
  - States are computed from the VMs as they are, by the rules of this collection. C(restart_required) means that a
    restart would change the running guest, which the condition of KubeVirt alone does not mean.
  - After a lost connection, an expired watch or a restart, compares the VMs with the last known state and sends what
    has changed since. With C(state_directory) or C(state_config_map) this state outlives the source.
  - Each event has an C(id), made of the cluster, the UID of the VM, the transition and its cause. No id is sent twice
    unless the source was killed between an event and its record.
  - The arguments C(context), C(host), C(api_key), C(username), C(password), C(validate_certs), C(ca_cert),
    C(client_cert), C(client_key), C(proxy), C(no_proxy), C(proxy_headers), C(impersonate_user),
    C(impersonate_groups) and C(retry_timeout) are those of the modules. Without C(clusters), the environment
    variables C(K8S_AUTH_*) count, too.
options:
  kubeconfig:
    description: The kubeconfig, as a path or as a dictionary. Default is that of the environment, and inside a pod
      the service account of the pod.
    type: raw
  clusters:
    description: Clusters to watch, each with a C(name), which events have as C(cluster), and with arguments of
      authentication that override those beside this list. One that is down, or refuses, is logged and tried again; the
      others go on.
    type: list
    elements: dict
  namespace:
    description: The namespace of the VMs. Default is all namespaces.
    type: str
  label_selectors:
    description: Labels that the VMs have.
    type: list
    elements: str
  field_selectors:
    description: Fields that the VMs have, of those by which the API server selects, such as C(metadata.name!=test).
    type: list
    elements: str
  transitions:
    description: The transitions to send. Default is all but C(mended), which says that another one of these has ended -
      C(mended) names it and C(mends) the C(id) of its event.
    type: list
    elements: str
  fields:
    description: Fields of the VM to send as C(virtual_machine), as paths such as C(metadata.labels) or
      C(spec.instancetype). Secrets are hidden.
    type: list
    elements: str
  report_existing:
    description: Whether to send the states that hold already when the source starts without a known state.
    type: bool
    default: true
  state_directory:
    description: Folder for the last known state, a file for each cluster. Each source needs its own.
    type: str
  state_config_map:
    description: ConfigMap for the last known state, as C(NAMESPACE/NAME), in each of the clusters. It holds about
      7,000 VMs with three states each. Each source needs its own.
    type: str
  delay:
    description: Seconds to wait after a change for further changes.
    type: float
    default: 1
  resync:
    description: Seconds after which to look at all VMs without a reason.
    type: float
    default: 600
  patience:
    description: Seconds that a VM may be on its way before the source asks why it does not run.
    type: float
    default: 30
  feedback:
    description: Whether an event counts as sent only once the rule engine has taken it. An argument of
      ansible-rulebook, which needs a C(name) of the source.
    type: bool
    default: false
notes:
  - Needs the Python packages C(urllib3) and C(PyYAML) beside ansible-rulebook.
"""

EXAMPLES = r"""
- name: fleet
  virtshape.instancetypes.virtual_machines:
    kubeconfig: /etc/eda/kubeconfig
    label_selectors: [tier=production]
    transitions: [drifted, restart_required]
    state_directory: /var/lib/eda
    feedback: true

- virtshape.instancetypes.virtual_machines:
    clusters:
      - {name: east, kubeconfig: /etc/eda/east}
      - {name: west, kubeconfig: /etc/eda/west}
    namespace: shop
    fields: [metadata.labels, spec.instancetype]
    state_config_map: eda/virtual-machines
"""

# ansible-rulebook runs this file by its path, and has no loader for collections.
_PARENTS = [*Path(__file__).absolute().parents]
if _PARENTS[6].name == "ansible_collections" and str(_PARENTS[7]) not in sys.path:
    sys.path.append(str(_PARENTS[7]))

from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.placement.reasons import (  # noqa: E402
    node_reasons,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._diagnosis.cluster.diagnosis import (  # noqa: E402
    diagnoser,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._events.cluster.source import (  # noqa: E402
    watch_cluster,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._events.source_options import (  # noqa: E402
    source_options,
)

# Seconds for the rule engine to take an event, after which the source ends, so that somebody sees it.
_TAKEN = 300


async def main(queue: asyncio.Queue[Any], args: dict[str, Any]) -> None:
    """Send events until cancelled; raise an exception with one line for what no retry mends."""
    options = source_options(args, os.environ)
    feedback, turn = args.get("eda_feedback_queue"), asyncio.Lock()

    async def put(event: dict[str, Any]) -> None:
        # The acknowledgements of two events could not be told apart by order.
        async with turn:
            await queue.put(event)
            await asyncio.sleep(0)
            while feedback is not None:
                taken = await asyncio.wait_for(feedback.get(), _TAKEN)
                if taken.get("id") == event["id"]:
                    break

    loop, stop = asyncio.get_running_loop(), threading.Event()

    def put_from_thread(event: dict[str, Any]) -> None:
        asyncio.run_coroutine_threadsafe(put(event), loop).result()

    runs = [
        _in_thread(
            loop,
            functools.partial(watch_cluster, options, cluster, put_from_thread, stop, diagnoser(node_reasons)),
        )
        for cluster in options.clusters
    ]
    # A source that returns makes the rule engine end its actions first; the signal by itself would drop them.
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGTERM, stop.set)
    try:
        await asyncio.wait(runs, return_when=asyncio.FIRST_EXCEPTION)
        stop.set()
        # After an error of one cluster, the others save what they have told.
        await asyncio.wait(runs)
        await asyncio.gather(*runs)
    finally:
        stop.set()


def _in_thread(loop: asyncio.AbstractEventLoop, run: Callable[[], None]) -> asyncio.Future[None]:
    """The end of a function in a thread of its own, which does not keep the process alive."""
    future: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def target() -> None:
        error: BaseException | None = None
        try:
            run()
        except BaseException as raised:  # pylint: disable=broad-exception-caught
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=target, daemon=True, name="virtual_machines").start()
    return future


if __name__ == "__main__":

    class MockQueue(asyncio.Queue[Any]):
        """A queue that prints."""

        async def put(self, item: Any) -> None:
            """Print the event."""
            print(item)

    asyncio.run(main(MockQueue(), {}))
