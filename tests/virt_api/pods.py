"""VMs that virt-api admits; kube-apiserver may refuse the pods that virt-controller makes of them."""

from virt_api.case import Case, pod

DEVICES = "domain.devices"
REQUESTS, LIMITS = "domain.resources.requests", "domain.resources.limits"

PODS: dict[str, Case] = {
    "subdomain with a dot": pod({"subdomain": "a.b"}),
    "subdomain too long": pod({"subdomain": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}),
    "subdomain": pod({"subdomain": "a"}),
    "no image": pod({"volumes": [{"name": "a", "containerDisk": {"image": ""}}]}),
    "image with spaces": pod({"volumes": [{"name": "a", "containerDisk": {"image": " x "}}]}),
    "GPU without a domain": pod({f"{DEVICES}.gpus": [{"name": "g", "deviceName": "A30"}]}),
    "GPU with a space": pod({f"{DEVICES}.gpus": [{"name": "g", "deviceName": "nvidia.com/A 30"}]}),
    "GPU of an upper-case domain": pod({f"{DEVICES}.gpus": [{"name": "g", "deviceName": "NVIDIA.com/A30"}]}),
    "GPU": pod({f"{DEVICES}.gpus": [{"name": "g", "deviceName": "nvidia.com/A30"}]}),
    "GPU of two slashes": pod({f"{DEVICES}.gpus": [{"name": "g", "deviceName": "nvidia.com/a/b"}]}),
    "limit without a domain": pod({LIMITS: {"foo": "1"}}),
    "limit with a space": pod({LIMITS: {"a b": "1"}}),
    "half a device": pod({LIMITS: {"example.com/x": "0.5"}, REQUESTS: {"example.com/x": "500m"}}),
    "request without a limit": pod({REQUESTS: {"example.com/x": "1"}}),
    "request below the limit": pod({LIMITS: {"example.com/x": "2"}, REQUESTS: {"example.com/x": "1"}}),
    "device": pod({LIMITS: {"example.com/x": "2k"}, REQUESTS: {"example.com/x": "2"}}),
    "device as limit": pod({LIMITS: {"example.com/x": "1"}}),
    "same in other words": pod({LIMITS: {"example.com/x": "1000"}, REQUESTS: {"example.com/x": "1k"}}),
    "standard ones": pod({LIMITS: {"cpu": "1", "ephemeral-storage": "1Gi"}, REQUESTS: {"cpu": "500m"}}),
    "request without a domain": pod({REQUESTS: {"foo": "1"}}),
    "storage": pod({LIMITS: {"storage": "1"}}),
}
