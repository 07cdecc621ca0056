/** Services on a real node: the proxy, mapped ports, and the way of pods to the API server, DNS and other nodes. */
import { rangeHas } from '../../../lib/cidr.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { RunningDnsServer } from '../../../network/dns/dns-server.ts'
import type { PortMapper } from '../../../network/ports/port-mapper.ts'
import type { RealNodeTask } from '../thread/messages.ts'
import { gatewayOf } from './api-gateway.ts'
import type { RunningFlannel } from './embedded-flannel.ts'
import type { RunningEmbeddedProxy } from './embedded-proxy.ts'

export interface NodeServices {
  /** Starts in the background, when the node is registered. Errors are logged. */
  start(): void
  stop(): Promise<void>
  /** Notes the number of containers that run on: their connections need the rules. */
  keepFor(containers: number): void
  /** Removes the rules if no container runs on. */
  endLast(): Promise<void>
}

export function servicesOf(task: RealNodeTask, log: (line: string) => void): NodeServices {
  let proxy: Promise<RunningEmbeddedProxy | undefined> = Promise.resolve(undefined)
  let gateway: Promise<(() => Promise<void>) | undefined> = Promise.resolve(undefined)
  let dns: Promise<RunningDnsServer | undefined> = Promise.resolve(undefined)
  let ports: Promise<PortMapper | undefined> = Promise.resolve(undefined)
  let peers: Promise<RunningFlannel | undefined> = Promise.resolve(undefined)
  let keepsRules = false
  let isStopped = false

  async function startProxy(): Promise<RunningEmbeddedProxy | undefined> {
    const { startEmbeddedProxy } = await import('./embedded-proxy.ts')
    if (isStopped) return undefined
    const { name: node, ips, server, proxy } = task
    return startEmbeddedProxy({ node, address: ips[0], server: { url: server.url, ca: server.ca }, proxy, log })
  }

  return {
    start() {
      proxy = startProxy().catch((error) => void log(`Services do not work: ${messageOf(error)}`))
      peers = startPeers(task, log).catch((error) => void log(`pods do not reach other nodes: ${messageOf(error)}`))
      ports = startPorts(task, log).catch((error) => void log(`mapped ports do not work: ${messageOf(error)}`))
      gateway = startGateway(task).catch(
        (error) => void log(`pods do not reach the API server as the Service kubernetes: ${messageOf(error)}`),
      )
      dns = startDns(task, gateway, log).catch(
        (error) => void log(`names of Services have no addresses in pods: ${messageOf(error)}`),
      )
    },
    async stop() {
      isStopped = true
      await Promise.all([proxy, dns, ports, peers].map(async (part) => (await part)?.stop()))
      await (await gateway)?.()
    },
    keepFor(containers) {
      keepsRules = containers > 0
    },
    async endLast() {
      if (!keepsRules) await (await proxy)?.cleanUp()
    },
  }
}

async function startPorts(
  { server, ports }: RealNodeTask,
  log: (line: string) => void,
): Promise<PortMapper | undefined> {
  if (!ports) return undefined
  const { startEmbeddedPorts } = await import('../../ports/embedded-ports.ts')
  return startEmbeddedPorts({ server: { url: server.url, ca: server.ca }, client: ports.client, log })
}

async function startGateway(task: RealNodeTask): Promise<(() => Promise<void>) | undefined> {
  const address = task.apiGateway ? gatewayOf(task.apiGateway.range) : task.dns?.gateway
  if (address === undefined) return undefined
  const { holdGateway, startApiGateway } = await import('./api-gateway.ts')
  const release = holdGateway(address)
  const end = task.apiGateway && (await startApiGateway(task.apiGateway))
  return async () => {
    await end?.()
    release()
  }
}

/** The gateway has its address once it is started. */
async function startDns(
  task: RealNodeTask,
  gateway: Promise<unknown>,
  log: (line: string) => void,
): Promise<RunningDnsServer | undefined> {
  const { dns } = task
  if (!dns) return undefined
  const [{ startEmbeddedDns }, { isNeighbour, isOfThisMachine }] = await Promise.all([
    import('../../dns/embedded-dns.ts'),
    import('./api-gateway.ts'),
    gateway,
  ])
  const { url, ca } = task.server
  const serves = (address: string): boolean =>
    isOfThisMachine(address) ||
    dns.ranges.some((range) => rangeHas(range, address)) ||
    (dns.servesNeighbours && isNeighbour(address))
  return startEmbeddedDns({ dns, node: task.name, server: { url, ca }, serves, log })
}

async function startPeers(task: RealNodeTask, log: (line: string) => void): Promise<RunningFlannel | undefined> {
  const flannel = task.peers?.flannel
  return flannel && (await import('./embedded-flannel.ts')).startEmbeddedFlannel(task, flannel, log)
}
