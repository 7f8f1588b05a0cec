"""The names that this collection gives to what it writes into the cluster's objects.

All labels and annotations are of one domain. Objects keep them for years, so a name never gets another meaning.
"""

from __future__ import annotations

from typing import Final

DOMAIN: Final = "instancetypes.virtshape.io"

FIELD_MANAGER: Final = "virtshape"
"""The manager of server-side apply, and the value of MANAGED_BY_LABEL."""
MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
"""Kubernetes' own label. `catalog` writes it to what it deploys; whatever prunes reads it."""

CATALOG_LABEL: Final = f"{DOMAIN}/catalog"
"""The name of the catalog. `catalog` writes it to instancetypes, preferences and limits, and prunes by it."""
CATALOG_VERSION_LABEL: Final = f"{DOMAIN}/catalog-version"
"""The version of the catalog. `catalog` writes it; reports show it."""
STATE_LABEL: Final = f"{DOMAIN}/state"
"""``deprecated`` or ``obsolete``. The modules of instancetypes and preferences write it; whatever chooses reads it."""
REPLACEMENT_ANNOTATION: Final = f"{DOMAIN}/replacement"
"""The name of the object to use instead of a deprecated or obsolete one. Written and read as STATE_LABEL."""
OBSOLETE_FROM_ANNOTATION: Final = f"{DOMAIN}/obsolete-from"
"""The day on which a deprecated object is to become obsolete. Written and read as STATE_LABEL."""
LIMIT_ANNOTATION: Final = f"{DOMAIN}/limit"
"""The limit of a policy as JSON. `catalog` writes it; the modules read it to judge VMs as the policy does."""
LIMIT_SUFFIX: Final = f".limits.{DOMAIN}"
"""The ending of the names of all policies, which `catalog` gives them and prunes by."""
DEFAULT_LABEL: Final = f"{DOMAIN}/default"
"""``true`` on what `workload` prefers to its equals. Users write it to boot sources and instancetypes."""

BOOT_SOURCE_LABEL: Final = f"{DOMAIN}/boot-source"
"""The name of the boot source of a volume. `boot_source` writes it, and finds the older volumes of a source by it."""
BOOT_SOURCE_DIGEST_ANNOTATION: Final = f"{DOMAIN}/boot-source-digest"
"""The SHA-256 of the file that `boot_source` uploaded to a volume. The next upload reads it."""
BOOT_SOURCE_IMAGE_ANNOTATION: Final = f"{DOMAIN}/boot-source-image"
"""The declared image of a DataSource, because its volume names only the digest. `boot_source` writes it; `workload`
and the check of boot sources read it."""

EXPANDED_FIELDS_ANNOTATION: Final = f"{DOMAIN}/expanded-fields"
"""The fields of a VM's spec that its instancetype and preference have set, as JSON pointers, in which items of lists go
by their names. `virtual_machine` and refreshes write it; a refresh replaces these fields. The annotations
``instancetype`` and ``preference`` of the domain have the objects, see `matcher.MatcherField`."""
WORKLOAD_ANNOTATION: Final = f"{DOMAIN}/workload"
"""What `virtual_machine` chose for the workload of a VM, as JSON, so that the VM keeps it."""
PLUGGED_VOLUMES_ANNOTATION: Final = f"{DOMAIN}/plugged-volumes"
"""The plugged volumes of a VM whose list of volumes `virtual_machine` has written since, separated by commas."""
REFRESH_ANNOTATION: Final = f"{DOMAIN}/refresh"
"""Set and removed at once in the template of a VM, to bump its generation. If it is there, a run was interrupted."""
RETRIED_ANNOTATION: Final = f"{DOMAIN}/retried"
"""The resourceVersion of a VM at which a task made KubeVirt try again. Nobody reads it: what counts is the change."""

SNAPSHOT_LABEL: Final = f"{DOMAIN}/snapshot-of"
"""The UID of the VM of a snapshot. `virtual_machine_snapshot` writes it, and deletes older snapshots by it."""

SOURCE_ID_ANNOTATION: Final = f"{DOMAIN}/source-id"
"""The ID in its source of the machine that a VM replaces. The estate's list of VMs has it, and reads it from VMs."""
SOURCE_NAME_ANNOTATION: Final = f"{DOMAIN}/source-name"
"""The name of that machine. Written and read as SOURCE_ID_ANNOTATION."""
SOURCE_FOLDER_LABEL: Final = f"{DOMAIN}/source-folder"
"""The folder of that machine, for selectors. The estate's list of VMs has it."""
ASSIGNMENT_ANNOTATION: Final = f"{DOMAIN}/assignment"
"""The size, preference and names that the machine was given, as JSON. Written and read as SOURCE_ID_ANNOTATION."""

SSH_ADDRESS_ANNOTATION: Final = f"{DOMAIN}/ssh-address"
"""The address of the SSH server of a VMI's guest on this machine, ``127.0.0.1:PORT``. Only the local cluster writes it;
`virtual_machine_info` and the inventory read it."""
SIMULATED_BECAUSE_ANNOTATION: Final = f"{DOMAIN}/simulated-because"
"""The reason for which a VMI of a local cluster with guests has none. Written and read as SSH_ADDRESS_ANNOTATION."""
