/** The rules of a pod network: masquerade, and host ports of pods. */
import type { HostPort } from '../attachment.ts'

export interface PodRulesOptions {
  /** The name of the rules in the kernel: `t8s_pods_NAME`. */
  readonly table: string
  /** `cni0`. */
  readonly bridge: string
  /** Ranges of the pods: `10.88.0.0/16`. */
  readonly ranges: readonly string[]
  /** Destinations that see the address of a pod; the ranges of pods are among them. Undefined: no masquerade. */
  readonly notMasqueraded: readonly string[] | undefined
}

/** Host ports of a pod with its address of each family. */
export interface PodPorts {
  readonly addresses: readonly string[]
  readonly ports: readonly HostPort[]
}

export interface HostPortRules {
  /** Creates the rules without the ports of pods, once for a process: programs do not remove the rules of others. */
  setUp(): Promise<void>
  open(pod: PodPorts): Promise<void>
  /** Succeeds if ports, or all rules, are missing: an administrator flushed them, or the host restarted. */
  close(pod: PodPorts): Promise<void>
  /** Removes all rules. Succeeds if there are none. */
  remove(): Promise<void>
}

/** Bit of a packet's mark which asks for a masquerade: that of the CNI plug-in portmap. */
export const masqueradeMark = '0x2000'

/** Multicast packets keep their source. */
export const multicastRanges = { 4: '224.0.0.0/4', 6: 'ff00::/8' } as const

/** True for a host port on all addresses of the host. */
export const isAnyAddress = (address = ''): boolean => address === '' || address === '0.0.0.0' || address === '::'

/**
 * Returns the first of `ports` that another pod has.
 * @example takenPort([{ hostPort: 80, containerPort: 8080, protocol: 'tcp' }], portsOfOtherPods)
 */
export function takenPort(ports: readonly HostPort[], others: readonly HostPort[]): HostPort | undefined {
  return ports.find((port) => others.some((other) => isSame(port, other)))
}

const isSame = (one: HostPort, other: HostPort): boolean =>
  one.hostPort === other.hostPort &&
  one.protocol === other.protocol &&
  (isAnyAddress(one.hostIP) || isAnyAddress(other.hostIP) || one.hostIP === other.hostIP)
