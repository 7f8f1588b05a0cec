"""The configuration of the control plane: all flags of etcd, kube-apiserver, the controllers and kube-scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from local_cluster import pki
from local_cluster.paths import Layout
from local_cluster.ports import HOST

# etcd listens on sockets in a private folder, because on a port it would accept every user of the machine. The names
# are relative to the process's folder, because the path of a socket has at most 107 characters.
ETCD_CLIENT_URL = "unix://etcd-client:0"
ETCD_PEER_URL = "unix://etcd-peer:0"

# What users expect of a cluster besides storing objects: garbage collection, deletion of namespaces with their
# contents, and a ServiceAccount and the CA in new namespaces.
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "clusterrole-aggregation-controller",
    "root-ca-certificate-publisher-controller",
    # Otherwise claims and volumes are never deleted: admission adds finalizers, which these controllers remove. The
    # binder asks for each volume that is left every 15 s, 20 a second, until claims wait for minutes.
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-protection-controller",
    # What KubeVirt, CDI and ResourceQuotas need: claims get the volumes that the node's provisioner makes, CDI polls
    # registries by CronJobs, and quotas are counted.
    "persistentvolume-binder-controller",
    "cronjob-controller",
    "job-controller",
    "resourcequota-controller",
    # Checks the types of the expressions of ValidatingAdmissionPolicies.
    "validatingadmissionpolicy-status-controller",
)


def config(layout: Layout, port: int, *, schedules: bool) -> dict[str, Any]:
    """The contents of the configuration file (for its shape see `config` in control_plane/main.go).

    schedules: whether kube-scheduler puts pods on nodes.
    """
    return {
        "etcd": {
            "dir": str(layout.etcd),
            "clientURL": ETCD_CLIENT_URL,
            "peerURL": ETCD_PEER_URL,
            "unsafeNoFsync": True,
        },
        "apiServer": _api_server(layout, port),
        "controllerManager": _controller_manager(layout),
        "scheduler": _scheduler(layout) if schedules else [],
        "startControllersFile": str(start_controllers_file(layout)),
    }


def start_controllers_file(layout: Layout) -> Path:
    """The launcher creates this file once the kinds for the controllers are served; then the controllers start."""
    return layout.run / "start-controllers"


def _api_server(layout: Layout, port: int) -> list[str]:
    issuer = "https://kubernetes.default.svc"
    return [
        f"--etcd-servers={ETCD_CLIENT_URL}",
        f"--bind-address={HOST}",
        f"--secure-port={port}",
        f"--advertise-address={HOST}",
        # The endpoint of the Service `kubernetes` must not be a loopback address, so there is none.
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--tls-cert-file={layout.pki / 'apiserver.crt'}",
        f"--tls-private-key-file={layout.pki / 'apiserver.key'}",
        f"--client-ca-file={layout.pki / 'ca.crt'}",
        f"--token-auth-file={layout.pki / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        # The default is an hour, in which events pile up while tests run.
        "--event-ttl=15m",
        f"--service-account-issuer={issuer}",
        f"--api-audiences={issuer}",
        f"--service-account-key-file={layout.pki / 'service-account.key'}",
        f"--service-account-signing-key-file={layout.pki / 'service-account.key'}",
        f"--requestheader-client-ca-file={layout.pki / 'front-proxy-ca.crt'}",
        f"--requestheader-allowed-names={pki.FRONT_PROXY_CLIENT}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={layout.pki / 'front-proxy-client.crt'}",
        f"--proxy-client-key-file={layout.pki / 'front-proxy-client.key'}",
        "--profiling=false",
    ]


def controller_manager_kubeconfig(layout: Layout) -> Path:
    """The kubeconfig of the controllers."""
    return layout.pki / "controller-manager.kubeconfig"


def _controller_manager(layout: Layout) -> list[str]:
    return [
        f"--kubeconfig={controller_manager_kubeconfig(layout)}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials=false",
        f"--root-ca-file={layout.pki / 'ca.crt'}",
        f"--service-account-private-key-file={layout.pki / 'service-account.key'}",
        f"--controllers={','.join(CONTROLLERS)}",
        # With the default of 20 requests a second, the binder of claims loses against CDI, which writes a claim that is
        # not bound without a pause.
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def _scheduler(layout: Layout) -> list[str]:
    return [f"--kubeconfig={controller_manager_kubeconfig(layout)}", "--leader-elect=false", "--secure-port=0"]
