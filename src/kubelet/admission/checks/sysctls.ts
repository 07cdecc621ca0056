/** The kernel parameters that pods may set: safe ones, and those of the configuration (`allowedUnsafeSysctls`). */
import { dottedSysctl } from '../../cri/sandbox-config.ts'
import { type Pod, specOf } from '../../pod-types.ts'
import type { Rejection } from '../rejection.ts'

/** Parameters that only affect their own pod. */
const safeSysctls: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]

type Namespace = 'ipc' | 'net'

/** Parameters and their prefixes that are separate in each namespace of a kind. */
const namespaces: readonly (readonly [name: string, namespace: Namespace])[] = [
  ['kernel.sem', 'ipc'],
  ['kernel.shm', 'ipc'],
  ['kernel.msg', 'ipc'],
  ['fs.mqueue.', 'ipc'],
  ['net.', 'net'],
]

const namespaceOf = (name: string): Namespace | undefined =>
  namespaces.find(([known]) => (known === 'kernel.sem' ? name === known : name.startsWith(known)))?.[1]

/** Returns the fault of a pattern of `allowedUnsafeSysctls` (`kernel.msg*`); undefined if it can be used. */
export function sysctlPatternFault(pattern: string): string | undefined {
  const isPrefix = pattern.endsWith('*')
  if (namespaceOf(dottedSysctl(isPrefix ? pattern.slice(0, -1) : pattern))) return undefined
  return `the ${isPrefix ? 'sysctls' : 'sysctl'} ${JSON.stringify(pattern)} are not known to be namespaced`
}

/** Rejects a pod with a parameter that is not allowed, or that is not its own as it has the node's namespace. */
export function checkSysctls(pod: Pod, allowedUnsafe: readonly string[]): Rejection | undefined {
  const { securityContext, hostNetwork, hostIPC } = specOf(pod)
  for (const { name } of securityContext?.sysctls ?? []) {
    const fault = faultOf(dottedSysctl(name), [...safeSysctls, ...allowedUnsafe.map(dottedSysctl)], {
      net: hostNetwork === true,
      ipc: hostIPC === true,
    })
    if (fault)
      return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(dottedSysctl(name))} ${fault}` }
  }
  return undefined
}

function faultOf(
  name: string,
  allowed: readonly string[],
  isHost: Readonly<Record<Namespace, boolean>>,
): string | undefined {
  const isAllowed = allowed.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one))
  if (!isAllowed) return 'not allowlisted'
  const namespace = namespaceOf(name)
  return namespace && isHost[namespace] ? `not allowed with host ${namespace} enabled` : undefined
}
