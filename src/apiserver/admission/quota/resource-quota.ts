/**
 * ResourceQuota: a namespace uses no more than its quotas allow, and what it uses stands in their status. Who holds
 * writes against quotas also counts anew when objects go: only here is it known what has been let in and is not there
 * yet.
 */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { limitedResources } from './configuration.ts'
import { type Evaluator, evaluatorOf } from './evaluators.ts'
import { extendedClaims } from './extended-claims.ts'
import { QuotaBook } from './quota-book.ts'
import { QuotaLine } from './quota-line.ts'
import { UsageCount } from './usage-count.ts'

/** So long counting waits for more to change, and so long after writes it is looked whether they have come. */
const countDelayMs = 100
const reviewMs = 1_000

/** Throws an Error for a configuration that makes no sense. */
export function resourceQuota(sources: PluginSources): AdmissionPlugin {
  const limited = limitedResources(sources.configuration('ResourceQuota'))
  const lines = new Map<string, QuotaLine>()
  /** By namespace: when it is counted again. */
  const timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly due: number }>()
  let stopped = false
  const book = new QuotaBook(sources, (namespace) => setImmediate(count, namespace))
  const claims = sources.find('resource.k8s.io/v1/resourceclaims')
  const find = (resource: ServedResource): Evaluator | undefined =>
    resource === claims ? extended.evaluator : evaluatorOf(resource)
  const usage = new UsageCount(sources, find, (object, isThere) => {
    const { namespace } = object
    if (!book.has(namespace)) return
    if (isThere) lines.get(namespace)?.seen(object)
    countSoon(namespace, countDelayMs)
  })

  const extended = extendedClaims(sources, claims, usage)

  return {
    name: 'ResourceQuota',
    handles: ['CREATE', 'UPDATE'],
    validate(attributes) {
      const { namespace, resource } = attributes
      if (!book.has(namespace) && limited.length === 0) return
      // Bindings and evictions are about an object, and use nothing.
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

  function lineOf(namespace: string): QuotaLine {
    let line = lines.get(namespace)
    if (!line)
      lines.set(
        namespace,
        (line = new QuotaLine({
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
    else if (lines.get(namespace)?.idle) lines.delete(namespace)
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
