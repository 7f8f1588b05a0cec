#!/bin/sh
# The first process of a node, in namespaces for mounts, processes, its name and IPC: makes Debian its root, then runs
# containerd and kubelet. NODE_STATE is a folder of the node, NODE_ROOT the Debian.
set -eu
hostname "$NODE_NAME"
cd "$NODE_STATE"
mkdir -p changes work root containerd kubelet
mount -t overlay overlay -o "lowerdir=$NODE_ROOT,upperdir=changes,workdir=work" root
cd root
mkdir -p dev proc sys run tmp mnt var/lib/containerd var/lib/kubelet opt/programs opt/multus opt/images opt/node opt/volumes
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
# Without kvm, which the node labeller would open.
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm dev/net
for device in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "kmsg 1 11" "tty 5 0" "net/tun 10 200"; do
    set -- $device
    mknod -m 666 "dev/$1" c "$2" "$3"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs dev/shm
# Not overlays, on which containerd's own overlays could not lie.
mount --bind ../containerd var/lib/containerd
mount --bind ../kubelet var/lib/kubelet
mount --bind ../node opt/node
mount --bind "$NODE_PROGRAMS" opt/programs
mount --bind "$NODE_MULTUS" opt/multus
mount --bind "$NODE_IMAGES" opt/images
mount --bind "$NODE_VOLUMES" opt/volumes
pivot_root . mnt
cd /
umount -l /mnt
mount --make-rshared /
rm -f /var/run
ln -s ../run /var/run
mkdir -p /etc/cni/net.d
cp /opt/node/pods.conflist /etc/cni/net.d/
cp /opt/multus/multus /usr/lib/cni/
# A process that ends both when either ends.
containerd --config /opt/node/containerd.toml >/opt/node/containerd.log 2>&1 &
until ctr version >/dev/null 2>&1; do sleep 0.1; done
for image in /opt/images/*.tar; do
    ctr -n k8s.io images import "$image" >>/opt/node/images.log 2>&1
done
# By its digest, which a pod that takes over a guest asks for.
ctr -n k8s.io images ls -q | grep ^localhost/ | grep -v @ | while read -r name; do
    digest=$(ctr -n k8s.io images ls "name==$name" | awk 'NR == 2 { print $3 }')
    ctr -n k8s.io images tag "$name" "${name%:*}@$digest" >>/opt/node/images.log 2>&1 || true
done
exec /opt/programs/kubelet --config=/opt/node/kubelet.yaml --kubeconfig=/opt/node/kubeconfig \
    --cert-dir=/var/lib/kubelet/pki --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESS" \
    --node-labels="$NODE_LABELS" --root-dir=/var/lib/kubelet >/opt/node/kubelet.log 2>&1
