/** Facts about this machine for its Node object: processors, memory, disk, and names of its parts. */
import { readFileSync, statfsSync } from 'node:fs'
import { arch, availableParallelism, hostname, networkInterfaces, release } from 'node:os'
import { join } from 'node:path'

export interface Machine {
  readonly hostname: string
  readonly cpus: number
  /** In bytes. */
  readonly memory: bigint
  readonly swap: bigint
  /** The size of the file system of the kubelet's folder, in bytes. */
  readonly disk: bigint
  /** Bytes of huge pages by their size: `2Mi`. */
  readonly hugePages: ReadonlyMap<string, bigint>
  readonly machineId: string
  readonly systemUuid: string
  readonly bootId: string
  readonly kernelVersion: string
  readonly osImage: string
  /** Go's name: `amd64`. */
  readonly architecture: string
  /** Addresses of interfaces other than loopback, IPv4 first. */
  readonly addresses: readonly string[]
}

/** Reads the facts from `/proc`, `/sys` and `/etc` below `root`; `folder` is on the disk that pods use. */
export function readMachine(folder: string, root = '/'): Machine {
  const text = (path: string): string => textOf(join(root, path))
  const memory = memoryOf(text('proc/meminfo'))
  const { blocks, bsize } = statfsSync(folder, { bigint: true })
  const machineId = text('etc/machine-id')
  return {
    hostname: hostname().trim().toLowerCase(),
    cpus: availableParallelism(),
    memory: memory('MemTotal'),
    swap: memory('SwapTotal'),
    disk: blocks * bsize,
    hugePages: hugePagesOf(memory),
    machineId,
    systemUuid: text('sys/class/dmi/id/product_uuid') || machineId,
    bootId: text('proc/sys/kernel/random/boot_id'),
    kernelVersion: release(),
    osImage: osImageOf(text('etc/os-release')),
    architecture: goArchitecture(arch()),
    addresses: machineAddresses(),
  }
}

/** Empty for a file that does not exist or cannot be read. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Returns a function of the names in `/proc/meminfo`: bytes, 0 for a missing one. */
const memoryOf =
  (meminfo: string) =>
  (name: string): bigint =>
    BigInt(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0) *
    (name.startsWith('HugePages_') ? 1n : 1024n)

/** Huge pages of the default size. */
function hugePagesOf(memory: (name: string) => bigint): ReadonlyMap<string, bigint> {
  const size = memory('Hugepagesize')
  return size === 0n ? new Map() : new Map([[sizeName(size), memory('HugePages_Total') * size]])
}

/** `2Mi` for the bytes of a page. */
const sizeName = (bytes: bigint): string => (bytes >= 1n << 30n ? `${bytes >> 30n}Gi` : `${bytes >> 20n}Mi`)

const osImageOf = (osRelease: string): string => /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? 'Linux'

const goArchitecture = (name: string): string =>
  name === 'x64' ? 'amd64' : name === 'ia32' ? '386' : name === 'ppc64' ? 'ppc64le' : name

/** Addresses of interfaces other than loopback, IPv4 first. */
export function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  return [...outside].sort((a, b) => a.family.localeCompare(b.family)).map(({ address }) => address)
}
