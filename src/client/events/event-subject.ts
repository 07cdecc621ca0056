/** The object that an event is about. */
import type { KubeObject } from '../../machinery/object.ts'

/** A reference to the object of an event. */
export interface EventSubject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** Namespace of events about cluster-scoped objects. */
const clusterNamespace = 'default'
const nanosecondsPerMs = 1_000_000

/** Converts an object to a reference. */
export function subjectOf(subject: KubeObject | EventSubject): EventSubject {
  if (!('metadata' in subject)) return { ...subject }
  const { apiVersion, kind, metadata } = subject
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion, kind, namespace, name, uid, resourceVersion }
}

/** Namespace and name of a new event: as upstream, the subject's name and the time in nanoseconds. */
export const eventMetadata = (
  { namespace, name }: EventSubject,
  nowMs: number,
): { readonly namespace: string; readonly name: string } => {
  // The clock has ms; the digits below are random.
  const nanoseconds = BigInt(nowMs) * BigInt(nanosecondsPerMs) + BigInt(Math.floor(Math.random() * nanosecondsPerMs))
  return { namespace: namespace || clusterNamespace, name: `${name}.${nanoseconds.toString(16)}` }
}
