#!/bin/sh
# The first process of the initial file system: mounts the disk and continues there.
mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
for module in virtio_pci virtio_blk overlay; do modprobe $module; done
while ! mount -t ext4 /dev/vda /disk 2>/dev/null; do sleep 0.1; done
umount /proc
exec switch_root /disk /init.sh
