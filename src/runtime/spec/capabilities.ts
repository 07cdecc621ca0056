/** Capabilities of containers: the default set, with those that a container adds and drops. */
import { readFileSync } from 'node:fs'
import type { Capability } from '#protobuf/cri-values_pb.js'

/** By their numbers in the kernel. */
const names = (
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE ' +
  'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN ' +
  'SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE ' +
  'MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE'
)
  .split(' ')
  .map((name) => `CAP_${name}`)

/** The kernel's numbers of capabilities. */
export const capabilityNumbers: ReadonlyMap<string, number> = new Map(names.map((name, number) => [name, number]))

const defaults = (
  'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL ' +
  'AUDIT_WRITE'
)
  .split(' ')
  .map((name) => `CAP_${name}`)

/** The capabilities that this process can give away: none that its bounding set lacks. */
export function availableCapabilities(status = readFileSync('/proc/self/status', 'utf8')): readonly string[] {
  const bits = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`)
  return names.filter((_, number) => (bits >> BigInt(number)) & 1n)
}

export interface ContainerCapabilities {
  /** Of the bounding, permitted and effective set. */
  readonly main: readonly string[]
  readonly ambient: readonly string[]
}

/** Throws an Error for an unknown name. `ALL` is added or dropped before the others. */
export function capabilitiesOf(
  isPrivileged: boolean,
  change: Capability | undefined,
  available: readonly string[],
): ContainerCapabilities {
  if (isPrivileged) return { main: available, ambient: [] }
  const { addCapabilities = [], dropCapabilities = [], addAmbientCapabilities = [] } = change ?? {}
  const isAll = (name: string): boolean => name.toUpperCase() === 'ALL'
  const set = new Set<string>(addCapabilities.some(isAll) ? available : defaults)
  if (dropCapabilities.some(isAll)) set.clear()
  for (const name of [...addCapabilities, ...addAmbientCapabilities]) if (!isAll(name)) set.add(fullName(name))
  for (const name of dropCapabilities) if (!isAll(name)) set.delete(fullName(name))
  const main = [...set].filter((name) => available.includes(name))
  return { main, ambient: addAmbientCapabilities.map(fullName).filter((name) => main.includes(name)) }
}

function fullName(name: string): string {
  const upper = name.toUpperCase()
  const full = upper.startsWith('CAP_') ? upper : `CAP_${upper}`
  if (!names.includes(full)) throw new Error(`unknown capability ${JSON.stringify(full)}`)
  return full
}
