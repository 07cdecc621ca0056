/** Files of a container's `/dev`: those that every program expects, and devices of the host. */
import { readFileSync } from 'node:fs'
import { isInUserNamespace } from '../../../../lib/linux/user-namespace.ts'
import type { OciDevice } from '../../../spec/oci-spec.ts'
import type { ProgramWriter } from '../program/program-writer.ts'
import { currentFolder } from './kernel-constants.ts'
import { makeFile, makeFolders } from './mount-points.ts'
import { moveTree, openTree } from './mount-trees.ts'

const character = 0o020_000
const block = 0o060_000
const pipe = 0o010_000

const device = (name: string, major: number, minor: number): OciDevice => ({
  path: `/dev/${name}`,
  type: 'c',
  major,
  minor,
  fileMode: 0o666,
  uid: 0,
  gid: 0,
})

const standard: readonly OciDevice[] = [
  device('null', 1, 3),
  device('zero', 1, 5),
  device('full', 1, 7),
  device('random', 1, 8),
  device('urandom', 1, 9),
  device('tty', 5, 0),
]

const links: Readonly<Record<string, string>> = {
  '/dev/fd': '/proc/self/fd',
  '/dev/stdin': '/proc/self/fd/0',
  '/dev/stdout': '/proc/self/fd/1',
  '/dev/stderr': '/proc/self/fd/2',
  '/dev/ptmx': 'pts/ptmx',
  '/dev/core': '/proc/kcore',
}

/** A device of a container; in a user namespace, which makes none, with a copy of the mount of the machine's. */
export interface OpenedDevice {
  readonly device: OciDevice
  readonly file: number | undefined
}

/** Before the root changes. */
export function openDevices(writer: ProgramWriter, devices: readonly OciDevice[]): OpenedDevice[] {
  const named = new Set(devices.map(({ path }) => path))
  const isBound = isInUserNamespace()
  return [...standard.filter(({ path }) => !named.has(path)), ...devices].map((device) => ({
    device,
    file: isBound ? openTree(writer, hostPathOf(device), { message: `cannot open device ${device.path}` }) : undefined,
  }))
}

/** The kernel's own name of a device. */
function hostPathOf({ path, type, major, minor }: OciDevice): string {
  try {
    const event = readFileSync(`/sys/dev/${type === 'b' ? 'block' : 'char'}/${major}:${minor}/uevent`, 'utf8')
    return `/dev/${/^DEVNAME=(.+)$/m.exec(event)![1]!}`
  } catch {
    return path
  }
}

/** `terminal` is a copy of the mount of the container's terminal. */
export function mountDevices(
  writer: ProgramWriter,
  devices: readonly OpenedDevice[],
  terminal: number | undefined,
): void {
  for (const { device, file } of devices) {
    if (file === undefined) makeDevice(writer, device)
    else bindDevice(writer, device, file)
  }
  for (const [path, target] of Object.entries(links))
    writer.call('symlinkat', [target, currentFolder, path], { ignored: ['EEXIST'], message: `cannot make ${path}` })
  if (terminal === undefined) return
  makeFile(writer, '/dev/console')
  moveTree(writer, terminal, '/dev/console', { message: 'cannot mount /dev/console' })
}

function makeDevice(writer: ProgramWriter, { path, type, major, minor, fileMode, uid, gid }: OciDevice): void {
  const format = type === 'b' ? block : type === 'p' ? pipe : character
  const message = `cannot make device ${path}`
  makeFolders(writer, path.slice(0, path.lastIndexOf('/')))
  writer.call('mknodat', [currentFolder, path, format | fileMode, numberOf(major, minor)], {
    message,
    ignored: ['EEXIST'],
  })
  if (uid !== 0 || gid !== 0) writer.call('fchownat', [currentFolder, path, uid, gid, 0], { message })
}

function bindDevice(writer: ProgramWriter, { path }: OciDevice, file: number): void {
  makeFile(writer, path)
  moveTree(writer, file, path, { message: `cannot mount device ${path}` })
}

/** As the kernel's `new_encode_dev`. */
const numberOf = (major: number, minor: number): number =>
  ((minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)) >>> 0
