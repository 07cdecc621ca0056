/** Devices of containers: those that they name, or for privileged ones all of the host. */
import { accessSync, constants, type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Device } from '#protobuf/cri-runtime_pb.js'
import { isInUserNamespace } from '../../lib/linux/user-namespace.ts'
import type { OciDevice, OciDeviceRule } from './oci-spec.ts'

export interface ContainerDevices {
  readonly devices: readonly OciDevice[]
  readonly rules: readonly OciDeviceRule[]
}

/** Folders of `/dev` that the runtime mounts itself in each container. */
const ownFolders: ReadonlySet<string> = new Set(['pts', 'shm', 'fd', 'mqueue', '.lxc', '.lxd-mounts', '.udev'])

export function devicesOf(isPrivileged: boolean, requested: readonly Device[]): ContainerDevices {
  if (isPrivileged)
    return { devices: devicesIn('/dev', '/dev', ownFolders).filter(isUsable), rules: [{ allow: true, access: 'rwm' }] }
  const devices: OciDevice[] = []
  const rules: OciDeviceRule[] = [{ allow: false, access: 'rwm' }]
  for (const { hostPath, containerPath, permissions } of requested) {
    const real = realpathSync(hostPath)
    const stat = statSync(real)
    const found = stat.isDirectory() ? devicesIn(real, containerPath) : [deviceOf(stat, containerPath)]
    for (const device of found) {
      if (!device) throw new Error(`not a device node: ${JSON.stringify(hostPath)}`)
      const { type, major, minor } = device
      devices.push(device)
      rules.push({ allow: true, access: permissions, type, major, minor })
    }
  }
  return { devices, rules }
}

/** Root of a user namespace can use what its user can. */
function isUsable({ path }: OciDevice): boolean {
  if (!isInUserNamespace()) return true
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

function devicesIn(folder: string, inContainer: string, skipped: ReadonlySet<string> = new Set()): OciDevice[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry: Dirent) => {
    if (skipped.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return devicesIn(path, join(inContainer, entry.name))
    // `/dev/console` is the container's own.
    if (path === '/dev/console' || !(entry.isCharacterDevice() || entry.isBlockDevice())) return []
    const stat = statSync(path, { throwIfNoEntry: false })
    const device = stat && deviceOf(stat, join(inContainer, entry.name))
    return device ? [device] : []
  })
}

function deviceOf(stat: Stats, path: string): OciDevice | undefined {
  const type = stat.isCharacterDevice() ? 'c' : stat.isBlockDevice() ? 'b' : undefined
  if (!type) return undefined
  const { major, minor } = numbersOf(BigInt(stat.rdev))
  return { path, type, major, minor, fileMode: stat.mode & 0o777, uid: stat.uid, gid: stat.gid }
}

/** As glibc's `gnu_dev_major` and `gnu_dev_minor`. */
export function numbersOf(rdev: bigint): { readonly major: number; readonly minor: number } {
  return {
    major: Number(((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & ~0xfffn)),
    minor: Number((rdev & 0xffn) | ((rdev >> 12n) & ~0xffn)),
  }
}
