/**
 * ResourceQuota: rejects writes that exceed a quota, and maintains the usage in the quotas' status. Recounts after
 * deletes are done here too, not in a controller: only the plug-in knows which admitted writes are not stored yet.
 */
import type { Log } from '../../../lib/log/log.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { type LimitedResource, limitedResources } from './configuration.ts'
import { QuotaCache } from './quota-cache.ts'
import { QuotaQueue } from './quota-queue.ts'
import { type Evaluator, evaluatorOf } from './usage/evaluators.ts'
import { ExtendedClaims } from './usage/extended-claims.ts'
import { UsageCounter } from './usage/usage-counter.ts'

/** The delay of a recount, to batch changes; and the delay after a write until reservations are checked. In ms. */
const countDelayMs = 100
const reviewMs = 1_000

/** A planned recount of a namespace. */
interface PlannedCount {
  readonly timer: NodeJS.Timeout
  readonly due: number
}

export class ResourceQuota implements AdmissionPlugin {
  readonly name = 'ResourceQuota'
  readonly handles = ['CREATE', 'UPDATE'] as const
  readonly #limited: readonly LimitedResource[]
  readonly #log: Log
  readonly #claims: ServedResource
  readonly #quotas: QuotaCache
  readonly #usage: UsageCounter
  readonly #extended: ExtendedClaims
  /** By namespace. */
  readonly #queues = new Map<string, QuotaQueue>()
  readonly #planned = new Map<string, PlannedCount>()
  #stopped = false

  /** Throws an Error for an invalid configuration. */
  constructor(sources: PluginSources) {
    this.#limited = limitedResources(sources.configuration('ResourceQuota'))
    this.#log = sources.log
    this.#claims = sources.find('resource.k8s.io/v1/resourceclaims')
    this.#quotas = new QuotaCache(sources, (namespace) => setImmediate(() => this.#count(namespace)))
    this.#usage = new UsageCounter(
      sources,
      (resource) => this.#evaluatorOf(resource),
      (object, isThere) => this.#objectChanged(object, isThere),
    )
    this.#extended = new ExtendedClaims(sources, this.#claims, this.#usage)
  }

  async start(): Promise<void> {
    await Promise.all([this.#quotas.start(), this.#extended.start()])
  }

  stop(): void {
    this.#stopped = true
    for (const { timer } of this.#planned.values()) clearTimeout(timer)
    this.#quotas.stop()
    this.#extended.stop()
    this.#usage.stop()
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { namespace, resource } = attributes
    if (!this.#quotas.has(namespace) && this.#limited.length === 0) return
    // Bindings and evictions use no resources.
    const evaluator = namespace === '' ? undefined : this.#evaluatorOf(resource.storage)
    if (!evaluator?.handles(attributes)) return
    return this.#queueOf(namespace)
      .check(attributes, evaluator)
      .then(() => this.#countSoon(namespace, reviewMs))
  }

  #evaluatorOf(resource: ServedResource): Evaluator | undefined {
    return resource === this.#claims ? this.#extended.evaluator : evaluatorOf(resource)
  }

  #objectChanged(object: StoredObject, isThere: boolean): void {
    const { namespace } = object
    if (!this.#quotas.has(namespace)) return
    if (isThere) this.#queues.get(namespace)?.observed(object)
    this.#countSoon(namespace, countDelayMs)
  }

  #queueOf(namespace: string): QuotaQueue {
    let queue = this.#queues.get(namespace)
    if (!queue) {
      queue = new QuotaQueue({
        namespace,
        quotaCache: this.#quotas,
        usage: this.#usage,
        limited: this.#limited,
        countLater: () => this.#countSoon(namespace, reviewMs),
        log: this.#log,
      })
      this.#queues.set(namespace, queue)
    }
    return queue
  }

  #count(namespace: string): void {
    if (this.#stopped) return
    if (this.#quotas.has(namespace)) this.#queueOf(namespace).recount()
    else if (this.#queues.get(namespace)?.isIdle) this.#queues.delete(namespace)
  }

  #countSoon(namespace: string, delayMs: number): void {
    const planned = this.#planned.get(namespace)
    const due = performance.now() + delayMs
    if (this.#stopped || (planned && planned.due <= due)) return
    clearTimeout(planned?.timer)
    const timer = setTimeout(() => {
      this.#planned.delete(namespace)
      this.#count(namespace)
    }, delayMs)
    this.#planned.set(namespace, { timer: timer.unref(), due })
  }
}
