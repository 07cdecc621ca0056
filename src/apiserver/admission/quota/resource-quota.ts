/**
 * ResourceQuota: rejects writes that exceed a quota, and maintains the usage in the quotas' status. Recounts after
 * deletes are done here too, not in a controller: only the plug-in knows which admitted writes are not stored yet.
 */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { limitedResources } from './configuration.ts'
import { type Evaluator, evaluatorOf } from './evaluators.ts'
import { extendedClaims } from './extended-claims.ts'
import { QuotaCache } from './quota-cache.ts'
import { QuotaQueue } from './quota-queue.ts'
import { UsageCounter } from './usage-counter.ts'

/** The delay of a recount, to batch changes; and the delay after a write until reservations are checked. In ms. */
const countDelayMs = 100
const reviewMs = 1_000

/** Throws an Error for an invalid configuration. */
export function resourceQuota(sources: PluginSources): AdmissionPlugin {
  const limited = limitedResources(sources.configuration('ResourceQuota'))
  const lines = new Map<string, QuotaQueue>()
  /** By namespace: the next recount. */
  const timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly due: number }>()
  let stopped = false
  const book = new QuotaCache(sources, (namespace) => setImmediate(count, namespace))
  const claims = sources.find('resource.k8s.io/v1/resourceclaims')
  const find = (resource: ServedResource): Evaluator | undefined =>
    resource === claims ? extended.evaluator : evaluatorOf(resource)
  const usage = new UsageCounter(sources, find, (object, isThere) => {
    const { namespace } = object
    if (!book.has(namespace)) return
    if (isThere) lines.get(namespace)?.observed(object)
    countSoon(namespace, countDelayMs)
  })

  const extended = extendedClaims(sources, claims, usage)

  return {
    name: 'ResourceQuota',
    handles: ['CREATE', 'UPDATE'],
    validate(attributes) {
      const { namespace, resource } = attributes
      if (!book.has(namespace) && limited.length === 0) return
      // Bindings and evictions use no resources.
      const evaluator = namespace === '' ? undefined : find(resource.storage)
      if (!evaluator?.handles(attributes)) return
      return lineOf(namespace)
        .check(attributes, evaluator)
        .then(() => countSoon(namespace, reviewMs))
    },
    async start() {
      await Promise.all([book.start(), extended.start()])
    },
    stop() {
      stopped = true
      for (const { timer } of timers.values()) clearTimeout(timer)
      book.stop()
      extended.stop()
      usage.stop()
    },
  }

  function lineOf(namespace: string): QuotaQueue {
    let line = lines.get(namespace)
    if (!line)
      lines.set(
        namespace,
        (line = new QuotaQueue({
          namespace,
          book,
          usage,
          limited,
          countLater: () => countSoon(namespace, reviewMs),
          log: sources.log,
        })),
      )
    return line
  }

  function count(namespace: string): void {
    if (stopped) return
    if (book.has(namespace)) lineOf(namespace).recount()
    else if (lines.get(namespace)?.isIdle) lines.delete(namespace)
  }

  function countSoon(namespace: string, delayMs: number): void {
    const planned = timers.get(namespace)
    const due = performance.now() + delayMs
    if (stopped || (planned && planned.due <= due)) return
    clearTimeout(planned?.timer)
    const timer = setTimeout(() => {
      timers.delete(namespace)
      count(namespace)
    }, delayMs)
    timers.set(namespace, { timer: timer.unref(), due })
  }
}
