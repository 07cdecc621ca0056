/** One IP family of kube-proxy: collects changes, and brings them into effect by a mode. */
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { StaleFlows } from '../conntrack/stale-flows.ts'
import type { ProxyMode } from '../modes/proxy-mode.ts'
import { PictureOfServices } from '../picture/service-picture.ts'
import type { IpFamily } from '../picture/service-port.ts'
import type { NodeTopology } from '../picture/used-endpoints.ts'
import type { ProxyHealth } from '../server/proxy-health.ts'
import type { FamilyMetrics } from '../server/proxy-metrics.ts'
import type { ServiceHealthServers } from '../server/service-health.ts'
import { type Schedule, SyncRunner, type SyncScope } from './sync-runner.ts'
import { triggerTimeAnnotation } from './trimmed-objects.ts'

export interface SyncTimes {
  /** Shortest interval of syncs in ms. */
  readonly minIntervalMs: number
  /** Interval in ms at which the mode checks that others have removed nothing; modes that cannot sync everything. */
  readonly periodMs: number
}

/** Upstream's interval of syncs of everything for modes that can check, in ms. */
const fullSyncMs = 3_600_000

export interface FamilyProxyOptions {
  readonly family: IpFamily
  readonly topology: NodeTopology
  readonly mode: ProxyMode
  /** Undefined for modes whose connections the kernel does not translate. */
  readonly staleFlows: StaleFlows | undefined
  readonly serviceHealth: ServiceHealthServers
  /** A text that changes with the addresses that the mode reads by itself. */
  readonly surroundings: () => string
  readonly health: ProxyHealth
  readonly metrics: FamilyMetrics
  readonly times: SyncTimes
  readonly schedule: Schedule
  /** ms since 1970. */
  readonly now: () => number
  readonly log: (line: string) => void
}

export class FamilyProxy {
  readonly #options: FamilyProxyOptions
  readonly #services: PictureOfServices
  readonly #runner: SyncRunner
  /** Times in ms since 1970 of changes of endpoints that are not in effect. */
  #triggers: number[] = []
  readonly #startedAt: number
  #isChanged = false
  #lastFullAt = 0
  #surroundings = ''
  /** True after a sync without any Service: there is nothing to repair. */
  #isEmpty = false
  #hasFlowFailure = false
  readonly #first = Promise.withResolvers<void>()

  constructor(options: FamilyProxyOptions) {
    const { family, topology, times, schedule, now } = options
    this.#options = options
    this.#services = new PictureOfServices(family, topology)
    this.#startedAt = now()
    this.#runner = new SyncRunner({
      ...times,
      schedule,
      now: () => performance.now(),
      sync: (scope) => this.#sync(scope),
      onFailure: (error, retryMs) => this.#failed(error, retryMs),
    })
  }

  /** Resolves after the first sync that succeeds, or at the end. */
  get synced(): Promise<void> {
    return this.#first.promise
  }

  /** Handles a change, as `PictureOfServices`. */
  setService(service: Service | undefined, old: Service | undefined): void {
    this.#services.setService(service, old)
    this.#change('service')
  }

  /** Handles a change, as `PictureOfServices`; slices of the other family are ignored. */
  setSlice(slice: EndpointSlice | undefined, old: EndpointSlice | undefined): void {
    if ((slice ?? old)?.addressType !== `IPv${this.#options.family}`) return
    this.#services.setSlice(slice, old)
    const trigger = slice?.metadata.annotations?.[triggerTimeAnnotation]
    if (trigger && trigger !== old?.metadata.annotations?.[triggerTimeAnnotation]) {
      const time = Date.parse(trigger)
      // Changes from before the start say nothing about this process.
      if (time >= this.#startedAt) this.#triggers.push(time)
    }
    this.#change('endpoint')
  }

  setTopology(topology: NodeTopology): void {
    this.#services.setTopology(topology)
    this.#runner.request()
  }

  /** Handles a change of what the mode reads by itself. */
  checkSurroundings(): void {
    if (this.#options.surroundings() !== this.#surroundings) this.#runner.request('check')
  }

  /** Starts the first sync; the objects must be complete. */
  start(): void {
    this.#runner.start()
  }

  /** Stops the syncs and the mode. Rules remain. */
  async stop(): Promise<void> {
    await this.#runner.stop()
    await this.#options.serviceHealth.stop()
    await this.#options.mode.stop()
    this.#first.resolve()
  }

  #change(kind: 'service' | 'endpoint'): void {
    const { metrics, health, family } = this.#options
    this.#isChanged = true
    metrics.changed(kind)
    health.queued(family)
    this.#runner.request()
  }

  /** True if everything must be synced. */
  async #isFull(scope: SyncScope): Promise<boolean> {
    if (scope !== 'check') return scope === 'all'
    const { mode, now, surroundings } = this.#options
    if (!mode.wasFlushed || now() - this.#lastFullAt >= fullSyncMs || surroundings() !== this.#surroundings) return true
    return mode.wasFlushed()
  }

  async #sync(scope: SyncScope): Promise<void> {
    const { family, mode, metrics, health, serviceHealth } = this.#options
    const isFull = await this.#isFull(scope)
    const changed = this.#services.update()
    const { picture } = this.#services
    const triggers = this.#triggers
    this.#triggers = []
    this.#isChanged = false
    metrics.taken()
    const hasWork = changed.size > 0 || (isFull && !(this.#isEmpty && picture.size === 0))
    if (hasWork) {
      const from = performance.now()
      if (isFull) this.#surroundings = this.#options.surroundings()
      try {
        await mode.sync(picture, isFull ? 'all' : changed)
      } catch (error) {
        this.#triggers.unshift(...triggers)
        throw error
      }
      metrics.synced(isFull, (performance.now() - from) / 1000)
      this.#isEmpty = picture.size === 0
      if (isFull) this.#lastFullAt = this.#options.now()
      this.#removeStaleFlows(isFull ? 'all' : changed)
      await serviceHealth.sync(picture)
    }
    health.updated(family)
    if (this.#isChanged) health.queued(family)
    const now = this.#options.now()
    for (const trigger of triggers) metrics.programmed(Math.max(0, now - trigger) / 1000)
    this.#first.resolve()
  }

  /** Flows that remain harm only their own clients: an error does not fail the sync. */
  #removeStaleFlows(changed: ReadonlySet<string> | 'all'): void {
    const { staleFlows, metrics, log } = this.#options
    const from = performance.now()
    try {
      const count = staleFlows?.clean(this.#services.picture, changed)
      if (count !== undefined) metrics.connectionsRemoved(count, (performance.now() - from) / 1000)
    } catch (error) {
      if (!this.#hasFlowFailure) log(`kube-proxy cannot remove stale UDP flows of Services: ${messageOf(error)}`)
      this.#hasFlowFailure = true
    }
  }

  #failed(error: unknown, retryMs: number): void {
    const { family, metrics, log } = this.#options
    metrics.failed()
    log(`kube-proxy: the sync of IPv${family} failed, retry in ${retryMs / 1000} s: ${messageOf(error)}`)
  }
}
