/** Runs a monitor for each collectable kind, following the changes of discovery. */
import { setTimeout as delay } from 'node:timers/promises'
import type { FailureLog } from '../../client/controller/failure-log.ts'
import { type Discovery, discover } from '../../client/discovery/discovery.ts'
import type { SharedInformer } from '../../client/informers/shared-informers.ts'
import { collectionPath, type Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { Graph } from './graph/graph.ts'
import { collectable } from './kinds.ts'
import { monitor } from './monitor.ts'
import { sharedMonitor } from './shared-monitor.ts'

export interface MonitorsOptions {
  readonly client: RestClient
  /** Returns the existing informer of a kind, if any. */
  readonly sharedInformer: (resource: Resource) => SharedInformer | undefined
  readonly graph: Graph
  readonly signal: AbortSignal
  /** Called after each discovery. */
  readonly onDiscovery: (discovery: Discovery) => void
  readonly failures: FailureLog
  /** Called after a failed discovery. */
  readonly onFailure: () => void
}

interface Running {
  readonly stopping: AbortController
  readonly synced: Promise<void>
  readonly ended: Promise<void>
}

/** Resources whose objects define kinds. */
const kindSources = new Set(['apiextensions.k8s.io/customresourcedefinitions', 'apiregistration.k8s.io/apiservices'])
/** Delays of discovery after a change of these, in ms: servers publish new kinds a little later. */
const changeDelaysMs = [50, 500, 5000]
/** Delay before a failed or partial discovery is retried, in ms. */
const retryDelayMs = 10_000
/** Collection starts when all monitors are synced or after this time, in ms. */
const syncTimeoutMs = 30_000

export class Monitors {
  readonly #options: MonitorsOptions
  readonly #running = new Map<string, Running>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #syncing: Promise<void> | undefined
  #needsResync = false

  constructor(options: MonitorsOptions) {
    this.#options = options
  }

  /** Resolves when the graph holds all existing objects, or after `syncTimeoutMs`. */
  async start(): Promise<void> {
    const { signal } = this.#options
    await this.syncKinds()
    const all = Promise.all([...this.#running.values()].map(({ synced }) => synced))
    const enough = new AbortController()
    await Promise.race([
      all,
      delay(syncTimeoutMs, undefined, { signal: AbortSignal.any([signal, enough.signal]), ref: false }).catch(() => {}),
    ])
    enough.abort()
  }

  /** Discovers kinds and updates the monitors. Never rejects. */
  async syncKinds(): Promise<void> {
    if (this.#syncing) this.#needsResync = true
    else {
      this.#syncing = this.#discoverKinds()
      await this.#syncing
      this.#syncing = undefined
      if (this.#needsResync) {
        this.#needsResync = false
        await this.syncKinds()
      }
    }
  }

  /** Resolves when all monitors have ended. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const { stopping } of this.#running.values()) stopping.abort()
    await Promise.all([this.#syncing, ...[...this.#running.values()].map(({ ended }) => ended)])
  }

  async #discoverKinds(): Promise<void> {
    const { client, signal, onDiscovery, failures, onFailure } = this.#options
    try {
      const discovery = await discover(client)
      if (signal.aborted) return
      this.#updateMonitors(discovery)
      onDiscovery(discovery)
      if (discovery.failed.length > 0) this.#syncAfter(retryDelayMs)
    } catch (error) {
      if (signal.aborted) return
      onFailure()
      failures.record(
        'discovery',
        error,
        Number.POSITIVE_INFINITY,
        'the garbage collector cannot discover kinds, retrying',
      )
      this.#syncAfter(retryDelayMs)
    }
  }

  #updateMonitors(discovery: Discovery): void {
    const collected = new Map(collectable(discovery).map((resource) => [collectionPath(resource), resource]))
    for (const [path, { stopping }] of this.#running) {
      // Monitors of groups whose discovery failed continue.
      const isUncertain = discovery.failed.some((groupVersion) => path.startsWith(`/apis/${groupVersion}/`))
      if (collected.has(path) || isUncertain) continue
      stopping.abort()
      this.#running.delete(path)
    }
    for (const [path, resource] of collected)
      if (!this.#running.has(path)) this.#running.set(path, this.#start(resource))
  }

  #start({ group, version, plural, kind, namespaced }: Resource): Running {
    const { client, sharedInformer, graph, signal, failures } = this.#options
    const stopping = new AbortController()
    const { promise: synced, resolve } = Promise.withResolvers<void>()
    const isOfKinds = kindSources.has(`${group}/${plural}`)
    const changed = (): void => {
      if (isOfKinds) for (const ms of changeDelaysMs) this.#syncAfter(ms)
    }
    const resource = { group, version, plural, kind, namespaced }
    const options = { graph, resource, synced: resolve, changed, signal: AbortSignal.any([signal, stopping.signal]) }
    const shared = sharedInformer(resource)
    const ended = shared ? sharedMonitor({ ...options, shared }) : monitor({ ...options, client, failures })
    return { stopping, synced, ended: ended.then(resolve) }
  }

  #syncAfter(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void this.syncKinds()
    }, ms).unref()
    this.#timers.add(timer)
  }
}
