/** The obstacles of a machine to a real node, found without changing anything. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, join } from 'node:path'
import { cLibraryPackage, hasCLibrary } from '../../../lib/linux/c-library.ts'
import { findRulesProgram } from '../../../network/cni/host-ports/find-rules-program.ts'
import { CniPlugins } from '../../../runtime/network/plugins/cni-plugins.ts'
import { type EmbeddedRuntime, pluginFolders } from '../settings/embedded-runtime.ts'
import type { Obstacle } from './obstacle-error.ts'

/** The facts of this process and machine that a real node depends on. */
export interface MachineFacts {
  readonly platform: string
  /** Of Node: `x64`. */
  readonly architecture: string
  /** The version of the kernel: `6.1.0-37-amd64`. */
  readonly kernel: string
  readonly userId: number
  /** The effective capabilities, as bits. */
  readonly capabilities: bigint
  /** True if the package koffi is installed. */
  readonly hasCLibrary: boolean
  /** True if CNI plug-ins are configured, or nft or iptables is installed for the bridge of Typernetes. */
  readonly canConnect: boolean
  /** Returns true if a folder, or the nearest parent that exists, is on a file system that can be written. */
  readonly canWrite: (folder: string) => boolean
  /** Returns true if a program is in `$PATH`. */
  readonly hasProgram: (name: string) => boolean
}

export const thisMachine = (): MachineFacts => ({
  platform: process.platform,
  architecture: process.arch,
  kernel: release(),
  userId: process.getuid?.() ?? -1,
  capabilities: effectiveCapabilities(),
  hasCLibrary: hasCLibrary(),
  canConnect: findRulesProgram().program !== undefined || new CniPlugins(pluginFolders).isConfigured,
  canWrite,
  hasProgram,
})

const systems: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' }

/** Without root, `--node-type=real` runs the cluster in user namespaces. */
const withoutRoot = { reason: 't8s runs without root', remedy: 'use sudo', flag: '--node-type=real' }

/** The first obstacle for any container runtime. */
export function machineObstacle({ platform, userId, capabilities }: MachineFacts): Obstacle | undefined {
  if (platform !== 'linux')
    return {
      reason: `containers need Linux, and this machine runs ${systems[platform] ?? platform}`,
      remedy: 'use a virtual machine with Linux',
    }
  if (userId !== 0) return withoutRoot
  const lacking = neededCapabilities.filter(([, bit]) => (capabilities & (1n << bit)) === 0n).map(([name]) => name)
  if (lacking.length > 0)
    return {
      reason: `root lacks ${lacking.join(', ')} here`,
      remedy: 'add these capabilities to the container or service that runs t8s',
    }
  return undefined
}

/** The first obstacle for the runtime of Typernetes. */
export function embeddedObstacle(
  machine: MachineFacts,
  { state, imageRoot }: Pick<EmbeddedRuntime, 'state' | 'imageRoot'>,
): Obstacle | undefined {
  const { hasProgram } = machine
  if (!machine.hasCLibrary)
    return { reason: `the package ${cLibraryPackage} is not installed`, remedy: `npm install ${cLibraryPackage}` }
  if (!machine.canConnect)
    return { reason: 'neither nft nor iptables is installed', remedy: 'apt-get install nftables' }
  for (const name of ['unshare', 'mount'])
    if (!hasProgram(name)) return { reason: `${name} is not installed`, remedy: 'apt-get install util-linux mount' }
  for (const folder of [state, imageRoot])
    if (!machine.canWrite(folder)) return { reason: `${folder} is read-only`, remedy: `make ${folder} writable` }
  if (hasProgram('crun') || hasProgram('runc')) return undefined
  const isKnown = machine.architecture === 'x64' || machine.architecture === 'arm64'
  if (isKnown && isAtLeast(machine.kernel, 5, 12)) return undefined
  return {
    reason: 'without crun and runc, containers need Linux 5.12 on x86-64 or 64-bit ARM',
    remedy: 'apt-get install crun',
  }
}

/** Those of capability.h that containers, their mounts and networks need. */
const neededCapabilities = [
  ['CAP_CHOWN', 0n],
  ['CAP_DAC_OVERRIDE', 1n],
  ['CAP_FOWNER', 3n],
  ['CAP_KILL', 5n],
  ['CAP_SETGID', 6n],
  ['CAP_SETUID', 7n],
  ['CAP_SETPCAP', 8n],
  ['CAP_NET_ADMIN', 12n],
  ['CAP_SYS_CHROOT', 18n],
  ['CAP_SYS_ADMIN', 21n],
  ['CAP_MKNOD', 27n],
] as const

function effectiveCapabilities(): bigint {
  if (!existsSync('/proc/self/status')) return 0n
  const [, bits = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return BigInt(`0x${bits}`)
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map(Number.parseFloat)
  return first > major || (first === major && second >= minor)
}

function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => folder !== '' && isExecutable(join(folder, name)))
}

const isExecutable = (file: string): boolean => allows(file, constants.X_OK)

function canWrite(folder: string): boolean {
  const present = existsSync(folder) || folder === '/'
  return present ? allows(folder, constants.W_OK) : canWrite(dirname(folder))
}

function allows(file: string, mode: number): boolean {
  try {
    accessSync(file, mode)
    return true
  } catch {
    return false
  }
}
