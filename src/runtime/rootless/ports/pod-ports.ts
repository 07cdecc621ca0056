/** The host ports of pods in a user namespace, as ports of the machine. */
import { errorCode } from '../../../lib/explained-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { PodPortMapping } from '../../network/pod-connector.ts'
import { type PublishedPort, publishPort } from './publish-port.ts'

const loopback = '127.0.0.1'
const anyAddress: ReadonlySet<string> = new Set(['', '0.0.0.0', '::'])

export class PodPorts {
  readonly #folder: string
  readonly #published = new Map<string, readonly PublishedPort[]>()

  /** `folder` has the sockets. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Opens the TCP ports of a pod, on the loopback address unless they name another. Rejects if one is in use. */
  async open(id: string, address: string, mappings: readonly PodPortMapping[]): Promise<void> {
    const published: PublishedPort[] = []
    this.#published.set(id, published)
    for (const { protocol, hostPort, containerPort, hostIP } of mappings) {
      if (protocol !== 'tcp' || hostPort === 0) continue
      const host = anyAddress.has(hostIP) ? loopback : hostIP
      const target = { host: address, port: containerPort }
      try {
        published.push(await publishPort(this.#folder, { host, port: hostPort, target }))
      } catch (error) {
        this.close(id)
        throw new Error(`cannot listen on host port ${host}:${hostPort}: ${reason(error)}`, { cause: error })
      }
    }
  }

  /** Does nothing for a pod without ports. */
  close(id: string): void {
    for (const port of this.#published.get(id) ?? []) port.close()
    this.#published.delete(id)
  }
}

function reason(error: unknown): string {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return 'another program uses it'
    case 'EACCES':
      return 'ordinary users may use ports from 1024 only (sysctl net.ipv4.ip_unprivileged_port_start)'
    default:
      return messageOf(error)
  }
}
