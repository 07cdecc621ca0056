/** The annotation with the time of the change that caused a write of endpoints, from which proxies measure latency. */
import type { Pod, Service } from '../../client/kinds.ts'
import { podCondition } from '../pods/phase.ts'

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

interface SeenTimes {
  readonly service: string
  readonly pods: ReadonlyMap<string, string>
}

/** Remembers the observed changes of each Service. Times are RFC 3339 strings, which sort chronologically. */
export class TriggerTimes {
  readonly #known = new Map<string, SeenTimes>()

  /** Returns the time of the first change since the last call for this key; undefined if nothing changed. */
  next(key: string, service: Service, pods: Iterable<Pod>): string | undefined {
    const previous = this.#known.get(key)
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
      consider(time, previous?.pods.get(name))
    }
    consider(created, previous?.service)
    this.#known.set(key, { service: created, pods: times })
    return previous ? first : created || undefined
  }

  forget(key: string): void {
    this.#known.delete(key)
  }
}

/** Returns the annotations with this time, or without the annotation. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> | undefined {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {}
  if (time) return { ...others, [triggerTimeAnnotation]: time }
  return Object.keys(others).length > 0 ? others : undefined
}
