/** kube-proxy without its program: watches Services, EndpointSlices and the Node, and syncs a mode for each family. */
import { SeriesRecorder } from '../../../client/events/series-recorder.ts'
import { SharedInformers, transformed } from '../../../client/informers/shared-informers.ts'
import { endpointSlices, type Node, nodes, serviceCIDRs, services } from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { parseCidr } from '../../../lib/cidr.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { StaleFlows, type StaleFlowsOptions } from '../conntrack/stale-flows.ts'
import type { NodePortAddresses } from '../modes/mode-options.ts'
import type { ProxyMode } from '../modes/proxy-mode.ts'
import type { IpFamily } from '../picture/service-port.ts'
import type { ProxyHealth } from '../server/proxy-health.ts'
import type { ProxyMetrics } from '../server/proxy-metrics.ts'
import { ServiceHealthServers } from '../server/service-health.ts'
import { FamilyProxy, type SyncTimes } from './family-proxy.ts'
import { type NodeState, nodeState, stateKey } from './node-state.ts'
import type { Schedule } from './sync-runner.ts'
import { trimmedNode, trimmedService, trimmedSlice } from './trimmed-objects.ts'

/** A mode for one family, and the parts that it needs beside it. */
export interface FamilyMode {
  readonly mode: ProxyMode
  readonly nodePortAddresses: () => NodePortAddresses
  /** Undefined for modes whose connections the kernel does not translate. */
  readonly removeFlows: StaleFlowsOptions['remove'] | undefined
}

export interface ServiceProxyOptions {
  readonly client: RestClient
  /** The name of the Node. */
  readonly node: string
  /** Overrides the node's primary address. */
  readonly bindAddress: string | undefined
  /** Creates the mode of a family; undefined if this machine does not have the family. */
  readonly createMode: (
    family: IpFamily,
    state: NodeState,
    serviceCidrs: () => readonly string[],
  ) => Promise<FamilyMode | undefined>
  readonly hostAddresses: () => readonly string[]
  readonly health: ProxyHealth
  readonly metrics: ProxyMetrics
  readonly times: SyncTimes
  readonly schedule: Schedule
  /** ms since 1970. */
  readonly now: () => number
  readonly log: (line: string) => void
}

/** Time in ms for the Node to appear with its addresses. */
const nodeWaitMs = 30_000
/** Time in ms for the list of ServiceCIDRs. */
const serviceCidrWaitMs = 2_000
const families: readonly IpFamily[] = [4, 6]
const noProxyName = '!service.kubernetes.io/service-proxy-name'
const selections = {
  services: { labelSelector: noProxyName, fieldSelector: 'spec.clusterIP!=None' },
  slices: { labelSelector: `!service.kubernetes.io/headless,${noProxyName}` },
} as const

export class ServiceProxy {
  readonly #options: ServiceProxyOptions
  readonly #informers: SharedInformers
  readonly #events: SeriesRecorder
  #families: readonly FamilyProxy[] = []
  #unsubscribe: (() => void)[] = []
  #state: NodeState | undefined
  #rebuilding: Promise<void> = Promise.resolve()
  readonly #stopping = new AbortController()

  constructor(options: ServiceProxyOptions) {
    this.#options = options
    this.#events = new SeriesRecorder(options.client, 'kube-proxy', options.log)
    this.#informers = new SharedInformers(options.client, options.log, [
      transformed({ resource: services, transform: trimmedService }),
      transformed({ resource: endpointSlices, transform: trimmedSlice }),
      transformed({ resource: nodes, transform: trimmedNode }),
    ])
  }

  /**
   * Resolves after the first sync of each family. Rejects if no mode can be created.
   * @example await new ServiceProxy(options).start()
   */
  async start(): Promise<void> {
    const { node, log } = this.#options
    const regarding = { kind: 'Node', name: node, uid: node }
    this.#events.record({ regarding, type: 'Normal', reason: 'Starting', action: 'StartKubeProxy', note: '' })
    const ownNode = { fieldSelector: `metadata.name=${node}` }
    await Promise.all([
      this.#informers.synced(services, selections.services),
      this.#informers.synced(endpointSlices, selections.slices),
      this.#informers.synced(nodes, ownNode),
      this.#serviceCidrsAppear(),
    ])
    if (this.#isStopped) return
    const informer = this.#informers.of(nodes, ownNode)
    if (!(await this.#nodeAppears(() => informer.get('', node))))
      log(`kube-proxy: the Node ${node} has no address: loopback is used; --bind-address sets another one`)
    if (this.#isStopped) return
    await this.#build(nodeState(informer.get('', node), this.#options.bindAddress))
    informer.onChange((object) => this.#setNode(object))
    await Promise.all(this.#families.map(({ synced }) => synced))
  }

  /** Stops syncs and modes. Rules remain. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#rebuilding
    await this.#end()
    await this.#informers.stop()
    this.#events.stop()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** True if the Node has an address in time. */
  async #nodeAppears(node: () => Node | undefined): Promise<boolean> {
    if (this.#options.bindAddress) return true
    const { schedule } = this.#options
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = schedule(() => resolve(false), nodeWaitMs)
    this.#stopping.signal.addEventListener('abort', () => resolve(true), { once: true })
    const informer = this.#informers.of(nodes, { fieldSelector: `metadata.name=${this.#options.node}` })
    const remove = informer.onChange(() => (node()?.status?.addresses?.length ?? 0) > 0 && resolve(true))
    const found = await promise
    cancel()
    remove()
    return found
  }

  #setNode(node: Node | undefined): void {
    const { health, bindAddress, log } = this.#options
    health.setNode(node)
    if (!node || !this.#state) return
    const state = nodeState(node, bindAddress)
    for (const family of this.#families) family.setTopology({ node: this.#options.node, zone: state.zone })
    if (stateKey(state) === stateKey(this.#state)) return
    this.#state = state
    this.#rebuilding = this.#rebuilding.then(async () => {
      if (this.#isStopped) return
      log('kube-proxy: the addresses of the Node have changed, and its rules are made again')
      await this.#end()
      await this.#build(state).catch((error) => log(`kube-proxy: ${messageOf(error)}`))
    })
  }

  async #build(state: NodeState): Promise<void> {
    this.#state = state
    const built = await Promise.all(families.map((family) => this.#family(family, state)))
    this.#families = built.filter((family) => family !== undefined)
    if (this.#families.length === 0) throw new Error('this machine has neither IPv4 nor IPv6')
    const informers = this.#informers
    this.#unsubscribe = [
      informers.of(services, selections.services).onChange((service, old) => {
        for (const family of this.#families) family.setService(service, old)
      }),
      informers.of(endpointSlices, selections.slices).onChange((slice, old) => {
        for (const family of this.#families) family.setSlice(slice, old)
      }),
    ]
    this.#unsubscribe.push(
      informers.of(serviceCIDRs).onChange(() => {
        for (const family of this.#families) family.checkSurroundings()
      }),
    )
    for (const family of this.#families) family.start()
  }

  /** Resolves with the list, or after a while: servers before 1.33 have no such objects. */
  async #serviceCidrsAppear(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#options.schedule(late.resolve, serviceCidrWaitMs)
    await Promise.race([this.#informers.synced(serviceCIDRs), late.promise])
    cancel()
  }

  #serviceCidrs(family: IpFamily): readonly string[] {
    const all = [...this.#informers.of(serviceCIDRs).all()].flatMap(({ spec }) => spec?.cidrs ?? [])
    return all.filter((cidr) => parseCidr(cidr)?.family === family).sort()
  }

  async #end(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    await Promise.all(this.#families.map((family) => family.stop()))
    this.#families = []
  }

  async #family(family: IpFamily, state: NodeState): Promise<FamilyProxy | undefined> {
    const { node, health, metrics, times, schedule, now, hostAddresses, createMode, log } = this.#options
    const serviceCidrs = (): readonly string[] => this.#serviceCidrs(family)
    const found = await createMode(family, state, serviceCidrs)
    if (!found) return undefined
    const { mode, nodePortAddresses, removeFlows } = found
    return new FamilyProxy({
      family,
      topology: { node, zone: state.zone },
      mode,
      staleFlows: removeFlows && new StaleFlows({ remove: removeFlows, hostAddresses }),
      serviceHealth: this.#healthServers(family, nodePortAddresses),
      surroundings: () => JSON.stringify([nodePortAddresses(), serviceCidrs()]),
      health,
      metrics: metrics.family(family),
      times,
      schedule,
      now,
      log,
    })
  }

  #healthServers(family: IpFamily, nodePortAddresses: () => NodePortAddresses): ServiceHealthServers {
    const { node, health, log } = this.#options
    return new ServiceHealthServers({
      addresses() {
        const { isAll, addresses } = nodePortAddresses()
        return isAll ? [family === 4 ? '0.0.0.0' : '::'] : addresses
      },
      isProxyHealthy: () => health.state.isHealthy,
      onFailure: ({ namespace, name }, port, message) => {
        const key = `${namespace}/${name}`
        const note = `node ${node} failed to start healthcheck ${JSON.stringify(key)} on port ${port}: ${message}`
        log(`kube-proxy: ${note}`)
        this.#events.record({
          regarding: { kind: 'Service', namespace, name, uid: key },
          type: 'Warning',
          reason: 'FailedToStartServiceHealthcheck',
          action: 'Listen',
          note,
        })
      },
    })
  }
}
