/** What an event is about: an object, or a reference to one. */
import type { KubeObject } from '../../machinery/object.ts'

export interface EventSubject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** Events of what has no namespace are in this one. */
const clusterNamespace = 'default'
const nanosecondsPerMs = 1_000_000

export function subjectOf(subject: KubeObject | EventSubject): EventSubject {
  if (!('metadata' in subject)) return { ...subject }
  const { apiVersion, kind, metadata } = subject
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion, kind, namespace, name, uid, resourceVersion }
}

/** Namespace and name of a new event about a subject: as upstream, its name and the time in nanoseconds. */
export const eventPlace = (
  { namespace, name }: EventSubject,
  nowMs: number,
): { readonly namespace: string; readonly name: string } => {
  // Of one ms, clocks tell no more: what is below it is by chance.
  const nanoseconds = BigInt(nowMs) * BigInt(nanosecondsPerMs) + BigInt(Math.floor(Math.random() * nanosecondsPerMs))
  return { namespace: namespace || clusterNamespace, name: `${name}.${nanoseconds.toString(16)}` }
}
