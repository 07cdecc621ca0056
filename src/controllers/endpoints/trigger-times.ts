/**
 * When the change happened that endpoints are written for, as an annotation tells it: what proxies measure their delay
 * from.
 */
import type { Pod, Service } from '../../client/kinds.ts'
import { podCondition } from '../pods/phase.ts'

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

interface Known {
  readonly service: string
  readonly pods: ReadonlyMap<string, string>
}

/**
 * Remembers of each Service which changes have been seen. Times are RFC 3339, so that their order is that of the texts.
 */
export class TriggerTimes {
  readonly #known = new Map<string, Known>()

  /** The first of the changes since the last call for this key; undefined where there are none. */
  next(key: string, service: Service, pods: Iterable<Pod>): string | undefined {
    const before = this.#known.get(key)
    const created = service.metadata.creationTimestamp ?? ''
    const times = new Map<string, string>()
    let first: string | undefined
    const consider = (time: string, known = ''): void => {
      if (time > known && (first === undefined || time < first)) first = time
    }
    for (const pod of pods) {
      const time = podCondition(pod, 'Ready')?.lastTransitionTime
      if (!time) continue
      const name = pod.metadata.name ?? ''
      times.set(name, time)
      consider(time, before?.pods.get(name))
    }
    consider(created, before?.service)
    this.#known.set(key, { service: created, pods: times })
    return before ? first : created || undefined
  }

  forget(key: string): void {
    this.#known.delete(key)
  }
}

/** Annotations with this time, or without any. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> | undefined {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {}
  if (time) return { ...others, [triggerTimeAnnotation]: time }
  return Object.keys(others).length > 0 ? others : undefined
}
