"""Hypothesis strategies for VMs and the objects that they name, of which KubeVirt admits some and refuses others, and
for options of the module virtual_machine.

KubeVirt's checks that have nothing to do with instance types are not preflight's matter: the VMs break none of those.
"""

from typing import Any

from hypothesis import strategies as st

Manifest = dict[str, Any]

TYPE, PREFERENCE = "VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"
ARCHITECTURES = ("amd64", "arm64", "s390x")
INSTANCETYPE, GUEST_PREFERENCE = "default-instancetype", "default-preference"


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Manifest]:
    """Objects with any of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


SIZES = st.sampled_from(["512Mi", "1Gi", "2Gi", "4Gi"])
PAGES = st.just({"pageSize": "2Mi"})
COUNTS = st.integers(1, 4)
SELECTOR = st.just({"disk": "ssd"})
INSTANCETYPES = st.builds(
    lambda cpu, memory, more: {"cpu": cpu, "memory": memory, **more},
    st.builds(lambda guest, more: {"guest": guest, **more}, COUNTS, some(model=st.just("Haswell"))),
    st.builds(
        lambda guest, more: {"guest": guest, **more}, SIZES, some(hugepages=PAGES) | some(maxGuest=st.just("8Gi"))
    ),
    some(nodeSelector=SELECTOR, annotations=st.just({"a": "b"}), ioThreadsPolicy=st.just("auto")),
)
TOPOLOGIES = [
    "sockets",
    "cores",
    "threads",
    "spread",
    "any",
    "preferSockets",
    "preferCores",
    "preferThreads",
    "preferSpread",
    "preferAny",
]
PREFERENCES = some(
    cpu=some(
        preferredCPUTopology=st.sampled_from(TOPOLOGIES),
        spreadOptions=some(
            across=st.sampled_from(["SocketsCores", "SocketsCoresThreads", "CoresThreads"]), ratio=st.just(2)
        ),
    ),
    preferredArchitecture=st.sampled_from(ARCHITECTURES),
    machine=st.just({"preferredMachineType": "q35"}),
    requirements=some(
        cpu=st.builds(lambda guest: {"guest": guest}, COUNTS),
        memory=st.builds(lambda guest: {"guest": guest}, SIZES),
        architecture=st.sampled_from(ARCHITECTURES),
    ),
    preferSpreadSocketToCoreRatio=st.just(2),
)
DOMAINS = st.builds(
    lambda domain, most: {"devices": {}, **domain, **most},
    some(
        cpu=some(sockets=COUNTS, cores=COUNTS, threads=COUNTS, model=st.just("Haswell")),
        memory=some(guest=SIZES, hugepages=PAGES, maxGuest=st.just("8Gi")),
        ioThreadsPolicy=st.just("shared"),
    ),
    some(resources=some(requests=some(memory=st.just("1Gi"), cpu=st.just("1")))),
)
LABELS = some(
    **{
        f"instancetype.kubevirt.io/{INSTANCETYPE}": st.sampled_from(["size", "other", "gone"]),
        f"instancetype.kubevirt.io/{INSTANCETYPE}-kind": st.just(TYPE),
        f"instancetype.kubevirt.io/{GUEST_PREFERENCE}": st.sampled_from(["guest", "gone"]),
        "template.kubevirt.io/architecture": st.sampled_from([*ARCHITECTURES, "vax"]),
    }
)
INFERRED = st.builds(
    lambda more: {"inferFromVolume": "root", **more}, some(inferFromVolumeFailurePolicy=st.just("Ignore"))
)


def named(*names: str) -> st.SearchStrategy[Manifest]:
    return st.sampled_from([{"name": name} for name in names])


VMS = st.builds(
    lambda *parts: vm(*parts),  # pylint: disable=unnecessary-lambda
    DOMAINS,
    some(architecture=st.sampled_from(ARCHITECTURES), nodeSelector=SELECTOR),
    some(instancetype=named("size", "other", "gone") | INFERRED, preference=named("guest", "gone") | INFERRED),
    st.sampled_from(["claim", "template", "volume", "gone"]),
)


def vm(domain: Manifest, template: Manifest, matchers: Manifest, source: str) -> Manifest:
    """A VM whose disk is a claim, a volume or a copy of a DataSource; or of an object that is gone."""
    sized = matchers.get("instancetype", {}).get("name") in ("size", "other")
    if "hugepages" in domain.get("memory", {}) and not sized:
        # A guest of less than a page is refused for other reasons.
        domain = {**domain, "memory": {"guest": "2Gi", **domain["memory"]}}
    copy_of = {"storage": {}, "sourceRef": {"kind": "DataSource", "name": "os"}}
    root = {"persistentVolumeClaim": {"claimName": source}} if source == "claim" else {"dataVolume": {"name": source}}
    spec = {"domain": domain, "volumes": [{"name": "root", **root}], **template}
    made: Manifest = {"runStrategy": "Halted", "template": {"metadata": {}, "spec": spec}, **matchers}
    if source == "template":
        made["dataVolumeTemplates"] = [{"metadata": {"name": "template"}, "spec": copy_of}]
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": made,
    }


def labelled(kind: str, name: str, labels: Manifest) -> Manifest:
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop", "labels": labels}, "spec": {}}


WORLDS = st.builds(
    lambda size, other, guest, claim, volume, source: [
        {"kind": TYPE, "metadata": {"name": "size"}, "spec": size},
        {"kind": TYPE, "metadata": {"name": "other"}, "spec": other},
        {"kind": PREFERENCE, "metadata": {"name": "guest"}, "spec": guest},
        labelled("PersistentVolumeClaim", "claim", claim),
        labelled("DataVolume", "volume", volume),
        labelled("DataSource", "os", source),
    ],
    INSTANCETYPES,
    INSTANCETYPES,
    PREFERENCES,
    LABELS,
    LABELS,
    LABELS,
)


IMPORTS = st.builds(
    lambda source, size: {**source, **size},
    st.sampled_from(
        [
            {"blank": True},
            {"data_source": {"name": "os"}},
            {"pvc": {"name": "claim", "namespace": "golden"}},
            {"http": {"url": "https://example.com/disk.qcow2", "secret_ref": "download"}},
            {"registry": {"url": "docker://quay.io/disks/os:1", "pull_method": "node"}},
        ]
    ),
    some(
        name=st.sampled_from(["first", "second"]),
        size=st.sampled_from(["10Gi", "10240Mi"]),
        storage_class=st.just("fast"),
        access_modes=st.just(["ReadWriteMany"]),
    ),
)
VOLUMES = st.builds(
    lambda source, more: {**source, **more},
    st.sampled_from(
        [
            {"container_disk": "quay.io/disks/os:1"},
            {"persistent_volume_claim": "claim"},
            {"data_volume": "volume"},
            {"empty_disk": "1Gi"},
            {"sysprep": {"secret": "answers"}},
        ]
    )
    | st.builds(lambda described: {"import": described}, IMPORTS),
    some(
        name=st.sampled_from(["root", "data"]),
        boot_order=st.integers(1, 3),
        bus=st.sampled_from(["virtio", "sata"]),
        device=st.sampled_from(["disk", "cdrom"]),
    ),
)
NETWORKS = st.builds(
    lambda network, more: {**network, **more},
    st.sampled_from(
        [{}, {"name": "lan", "multus": "lan"}, {"name": "fast", "multus": "golden/fast", "binding": "sriov"}]
    ),
    some(model=st.just("e1000"), mac_address=st.just("02:00:00:00:00:0A"), ports=st.just([{"port": 22}])),
)
MATCHERS = st.sampled_from([{"name": "size"}, {"infer": "auto"}, {"infer": "required"}, {"infer_from_volume": "root"}])
TEXTS = st.dictionaries(st.sampled_from(["tier", "example.com/on"]), st.sampled_from(["yes", "1e3", "web", ""]))
OPTIONS = some(
    labels=TEXTS,
    annotations=st.dictionaries(st.just("note"), st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]))),
    run_strategy=st.sampled_from(["Always", "Halted", "Manual"]),
    instancetype=MATCHERS,
    preference=MATCHERS,
    cpu=some(sockets=COUNTS, cores=COUNTS, model=st.just("Haswell")),
    memory=st.sampled_from(["1Gi", "1024Mi", "1.5Gi"]),
    termination_grace_period=st.integers(0, 200),
    volumes=st.lists(VOLUMES, max_size=3),
    cloud_init=some(
        type=st.sampled_from(["nocloud", "configdrive", "none"]),
        user=st.sampled_from(["me", "yes", "a: b"]),
        ssh_keys=st.just(["ssh-ed25519 AAAA me"]),
    ),
    access_credentials=st.lists(
        some(type=st.sampled_from(["ssh", "password"]), users=st.just(["me"])).map(
            lambda more: {"secret": "key", **more}
        ),
        max_size=2,
    ),
    networks=st.lists(NETWORKS, max_size=3),
    efi=some(secure_boot=st.booleans()),
    tpm=some(persistent=st.booleans()),
    node_selector=SELECTOR,
    tolerations=st.just([{"key": "dedicated", "operator": "Exists"}]),
    eviction_strategy=st.just("LiveMigrate"),
) | VMS.map(lambda made: {"spec": made["spec"]})
"""Options of a VM without a name, none of which may be secret; the module refuses some of them."""
