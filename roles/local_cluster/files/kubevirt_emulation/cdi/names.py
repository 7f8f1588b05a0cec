"""CDI's names: its namespace and user, and the labels and annotations by which its parts know what to do."""

from __future__ import annotations

from typing import Final

VERSION: Final = "1.66.0"
"""The release of CDI that is imitated."""
NAMESPACE: Final = "kubevirt"
"""One that it shares with KubeVirt, whose Service serves its API, too."""
ACCOUNT: Final = "cdi-sa"
USER: Final = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
UPLOAD_GROUP: Final = "upload.cdi.kubevirt.io"
UPLOAD_VERSION: Final = "v1beta1"

GROUP: Final = "cdi.kubevirt.io"
BIND: Final = f"{GROUP}/storage.bind.immediate.requested"
UPLOAD_TARGET: Final = f"{GROUP}/storage.upload.target"
CONTENT_TYPE: Final = f"{GROUP}/storage.contentType"
POD_PHASE: Final = f"{GROUP}/storage.pod.phase"
POD_READY: Final = f"{GROUP}/storage.pod.ready"
POPULATED_FOR: Final = f"{GROUP}/storage.populatedFor"
ADOPTION: Final = f"{GROUP}/allowClaimAdoption"
CRON: Final = f"{GROUP}/dataImportCron"
CRON_CLEANUP: Final = f"{GROUP}/dataImportCron.cleanup"
DESIRED_DIGEST: Final = f"{GROUP}/storage.import.sourceDesiredDigest"
NEXT_POLL: Final = f"{GROUP}/storage.import.nextCronTime"
LAST_POLL: Final = f"{GROUP}/storage.import.lastCronTime"
LAST_USE: Final = f"{GROUP}/storage.import.lastUseTime"
UPLOADED_DIGEST: Final = "local-cluster.virtshape.dev/uploaded-sha256"
"""The emulation's own: what was uploaded, since it stores no data."""
UPLOADED_BYTES: Final = "local-cluster.virtshape.dev/uploaded-bytes"
