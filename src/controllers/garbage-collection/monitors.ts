/** Keeps a monitor for every kind whose objects can be collected: those that discovery knows, as they come and go. */
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
  /** Kinds that are followed as a whole already. */
  readonly followed: (resource: Resource) => SharedInformer | undefined
  readonly graph: Graph
  readonly signal: AbortSignal
  /** Told what there is whenever that was looked up. */
  readonly discovered: (discovery: Discovery) => void
  readonly failures: FailureLog
  /** Told that kinds could not be looked up. */
  readonly failed: () => void
}

interface Running {
  readonly stopping: AbortController
  readonly synced: Promise<void>
  readonly ended: Promise<void>
}

/**
 * What kinds there are follows from objects of these; a server tells of them in discovery a little later. Milliseconds.
 */
const kindsOfKinds = new Set(['apiextensions.k8s.io/customresourcedefinitions', 'apiregistration.k8s.io/apiservices'])
const afterChangesMs = [50, 500, 5000]
/** A discovery that failed, as a whole or in part, is tried again after this. Milliseconds. */
const afterFailureMs = 10_000
/** The first garbage is not collected before all monitors are in step, or this has passed. Milliseconds. */
const longestSyncMs = 30_000

export class Monitors {
  readonly #options: MonitorsOptions
  readonly #running = new Map<string, Running>()
  readonly #looks = new Set<NodeJS.Timeout>()
  #looking: Promise<void> | undefined
  #lookAgain = false

  constructor(options: MonitorsOptions) {
    this.#options = options
  }

  /** Resolves when everything that is there at the start is in the graph, or long enough was waited for it. */
  async start(): Promise<void> {
    const { signal } = this.#options
    await this.look()
    const all = Promise.all([...this.#running.values()].map(({ synced }) => synced))
    const enough = new AbortController()
    await Promise.race([
      all,
      delay(longestSyncMs, undefined, { signal: AbortSignal.any([signal, enough.signal]), ref: false }).catch(() => {}),
    ])
    enough.abort()
  }

  /** Looks up what kinds there are. Never rejects. */
  async look(): Promise<void> {
    if (this.#looking) this.#lookAgain = true
    else {
      this.#looking = this.#look()
      await this.#looking
      this.#looking = undefined
      if (this.#lookAgain) {
        this.#lookAgain = false
        await this.look()
      }
    }
  }

  /** Resolves when all monitors have ended. */
  async stop(): Promise<void> {
    for (const timer of this.#looks) clearTimeout(timer)
    for (const { stopping } of this.#running.values()) stopping.abort()
    await Promise.all([this.#looking, ...[...this.#running.values()].map(({ ended }) => ended)])
  }

  async #look(): Promise<void> {
    const { client, signal, discovered, failures, failed } = this.#options
    try {
      const discovery = await discover(client)
      if (signal.aborted) return
      this.#follow(discovery)
      discovered(discovery)
      if (discovery.failed.length > 0) this.#lookIn(afterFailureMs)
    } catch (error) {
      if (signal.aborted) return
      failed()
      failures.record(
        'discovery',
        error,
        Number.POSITIVE_INFINITY,
        'the garbage collector cannot learn what kinds there are, trying again',
      )
      this.#lookIn(afterFailureMs)
    }
  }

  #follow(discovery: Discovery): void {
    const wanted = new Map(collectable(discovery).map((resource) => [collectionPath(resource), resource]))
    for (const [path, { stopping }] of this.#running) {
      // What cannot be asked now is followed as before.
      const isUncertain = discovery.failed.some((groupVersion) => path.startsWith(`/apis/${groupVersion}/`))
      if (wanted.has(path) || isUncertain) continue
      stopping.abort()
      this.#running.delete(path)
    }
    for (const [path, resource] of wanted) if (!this.#running.has(path)) this.#running.set(path, this.#start(resource))
  }

  #start({ group, version, plural, kind, namespaced }: Resource): Running {
    const { client, followed, graph, signal, failures } = this.#options
    const stopping = new AbortController()
    const { promise: synced, resolve } = Promise.withResolvers<void>()
    const isOfKinds = kindsOfKinds.has(`${group}/${plural}`)
    const changed = (): void => {
      if (isOfKinds) for (const ms of afterChangesMs) this.#lookIn(ms)
    }
    const resource = { group, version, plural, kind, namespaced }
    const options = { graph, resource, synced: resolve, changed, signal: AbortSignal.any([signal, stopping.signal]) }
    const shared = followed(resource)
    const ended = shared ? sharedMonitor({ ...options, shared }) : monitor({ ...options, client, failures })
    return { stopping, synced, ended: ended.then(resolve) }
  }

  #lookIn(ms: number): void {
    const timer = setTimeout(() => {
      this.#looks.delete(timer)
      void this.look()
    }, ms).unref()
    this.#looks.add(timer)
  }
}
