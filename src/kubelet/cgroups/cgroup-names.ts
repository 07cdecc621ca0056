/** The paths of cgroups by the driver that manages them: the kubelet itself (`cgroupfs`), or systemd's slices. */

export type CgroupDriver = 'cgroupfs' | 'systemd'

/** The parts of a cgroup's path, such as `kubepods`, `burstable`, `pod1234-abcd`. */
export type CgroupName = readonly string[]

/**
 * `/kubepods/burstable/pod1234-abcd` of the driver cgroupfs is
 * `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_abcd.slice` of systemd.
 */
export function cgroupPath(driver: CgroupDriver, name: CgroupName): string {
  if (driver === 'cgroupfs') return `/${name.join('/')}`
  const escaped = name.map((part) => part.replaceAll('-', '_'))
  return `/${escaped.map((_, i) => `${escaped.slice(0, i + 1).join('-')}.slice`).join('/')}`
}

/** The part of a name that a folder stands for: `pod1234-abcd` for the last one above. */
export function partOfFolder(driver: CgroupDriver, folder: string): string {
  if (driver === 'cgroupfs') return folder
  return folder
    .replace(/\.slice$/, '')
    .split('-')
    .at(-1)!
    .replaceAll('_', '-')
}

export const nameOf = (path: string): CgroupName => path.split('/').filter(Boolean)
