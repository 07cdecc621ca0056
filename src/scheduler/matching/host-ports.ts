/** Ports of nodes that pods take for themselves (`hostPort`): two on one node must not want the same. */
import type { Pod } from '../../client/kinds.ts'

export interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

const everywhere = '0.0.0.0'

/** Those of containers that run as long as the pod does: sidecars and containers. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const ports: HostPort[] = []
  for (const { restartPolicy, ports: own } of spec?.initContainers ?? []) if (own && restartPolicy === 'Always') collect(own, ports)
  for (const { ports: own } of spec?.containers ?? []) if (own) collect(own, ports)
  return ports.length > 0 ? ports : none
}

const none: readonly HostPort[] = []

function collect(own: readonly { readonly hostIP?: string; readonly protocol?: string; readonly hostPort?: number }[], ports: HostPort[]): void {
  for (const { hostIP, protocol, hostPort } of own) if (hostPort) ports.push({ ip: hostIP || everywhere, protocol: protocol || 'TCP', port: hostPort })
}

/** Which ports of a node are taken. */
export class UsedPorts {
  /** By protocol and port: addresses, and how many take it there. */
  readonly #taken = new Map<string, Map<string, number>>()

  add(ports: readonly HostPort[]): void {
    for (const { ip, protocol, port } of ports) {
      const key = `${protocol}/${port}`
      const addresses = this.#taken.get(key)
      if (addresses) addresses.set(ip, (addresses.get(ip) ?? 0) + 1)
      else this.#taken.set(key, new Map([[ip, 1]]))
    }
  }

  remove(ports: readonly HostPort[]): void {
    for (const { ip, protocol, port } of ports) {
      const key = `${protocol}/${port}`
      const addresses = this.#taken.get(key)
      const left = (addresses?.get(ip) ?? 0) - 1
      if (left > 0) addresses?.set(ip, left)
      else addresses?.delete(ip)
      if (addresses?.size === 0) this.#taken.delete(key)
    }
  }

  /** Whether one of them is taken. A port on all addresses stands against one on any. */
  conflicts(ports: readonly HostPort[]): boolean {
    if (this.#taken.size === 0) return false
    return ports.some((port) => this.isTaken(port))
  }

  isTaken({ ip, protocol, port }: HostPort): boolean {
    const addresses = this.#taken.get(`${protocol}/${port}`)
    return addresses !== undefined && (ip === everywhere || addresses.has(ip) || addresses.has(everywhere))
  }
}
