/** Host ports of pods: address, protocol and number. `0.0.0.0` stands for all addresses. */
import type { Pod } from '../../../client/kinds.ts'

/** A port of a node that a container uses. */
export interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

/** The address of a host port without `hostIP`. */
export const everyAddress = '0.0.0.0'
const none: readonly HostPort[] = []

/** The host ports of a pod: those of its containers and sidecars. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  let found: HostPort[] | undefined
  const collect = (containers: readonly NonNullable<Pod['spec']>['containers'][number][]): void => {
    for (const { ports } of containers)
      for (const { hostPort, hostIP, protocol } of ports ?? [])
        if (hostPort) (found ??= []).push({ ip: hostIP || everyAddress, protocol: protocol || 'TCP', port: hostPort })
  }
  collect(spec?.containers ?? [])
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always')
  if (sidecars) collect(sidecars)
  return found ?? none
}

const clashes = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === everyAddress || b.ip === everyAddress)

/** Returns true if the two lists have a port in common. */
export const portsClash = (wanted: readonly HostPort[], used: readonly HostPort[]): boolean =>
  wanted.some((one) => used.some((other) => clashes(one, other)))
