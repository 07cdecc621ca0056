/** Why pods wait: from their conditions and containers, claims, events, and from pods that could not be created. */
import type { History, ObjectLike } from './histories.ts'
import { type PodLike, podReasons, type Reason } from './pod-reasons.ts'

/** A reason, and when it was true. */
export interface Wait extends Reason {
  /** In ms since 1970; undefined if it began before the trace. */
  readonly from: number | undefined
  /** Undefined if it is true at the end. */
  readonly until: number | undefined
}

/** An Event about a pod, or about an owner that could not create one. */
export interface PodEvent {
  /** In ms since 1970; undefined if it was recorded before the trace. */
  readonly time: number | undefined
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count: number
}

export interface WaitingPod {
  readonly history: History
  /** True if it waits at the end of the trace. */
  readonly isWaiting: boolean
  readonly waits: readonly Wait[]
  readonly events: readonly PodEvent[]
}

/** Returns the pods that have waited; those that wait at the end come first. */
export function waitingPods(histories: ReadonlyMap<string, History>): WaitingPod[] {
  const events = eventsByObject(histories)
  const pods = [...histories.values()].filter(({ resource, group }) => resource === 'pods' && group === '')
  return pods
    .map((history): WaitingPod => {
      const waits = waitsOf(history, histories)
      return {
        ...{ history, waits },
        isWaiting: waits.some(({ until }) => until === undefined),
        events: events.get(`Pod/${history.namespace}/${history.name}`) ?? [],
      }
    })
    .filter(({ waits }) => waits.length > 0)
    .sort((a, b) => Number(b.isWaiting) - Number(a.isWaiting))
}

function waitsOf(pod: History, histories: ReadonlyMap<string, History>): Wait[] {
  const open = new Map<string, Wait>()
  const ended: Wait[] = []
  for (const version of pod.versions) {
    const reasons = version.type === 'delete' ? [] : podReasons(version.object as PodLike | undefined)
    const now = new Map(reasons.map((reason) => [`${reason.source}: ${reason.reason}: ${reason.message}`, reason]))
    for (const [text, wait] of open) {
      if (now.has(text)) continue
      open.delete(text)
      ended.push({ ...wait, until: version.time })
    }
    for (const [text, reason] of now)
      if (!open.has(text)) open.set(text, { ...reason, from: version.time, until: undefined })
  }
  const last = pod.versions.at(-1)
  if (last?.type !== 'delete')
    for (const reason of claimReasons(pod.namespace, last?.object as PodLike | undefined, histories))
      open.set(reason.message, { ...reason, from: undefined, until: undefined })
  return [...open.values(), ...ended]
}

/** Claims that are missing or not bound at the end, of a pod without a node. */
function claimReasons(namespace: string, pod: PodLike | undefined, histories: ReadonlyMap<string, History>): Reason[] {
  if (!pod || pod.spec?.nodeName) return []
  return (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }): Reason[] => {
    const name = persistentVolumeClaim?.claimName
    if (!name) return []
    const last = histories.get(`persistentvolumeclaims/${namespace}/${name}`)?.versions.at(-1)
    const claim = last?.object as ClaimLike | undefined
    if (!claim || last?.type === 'delete')
      return [{ source: 'claim', reason: 'ClaimMissing', message: `The claim ${name} does not exist.` }]
    const { status = {}, spec = {} } = claim
    if (status.phase === 'Bound') return []
    const message = `The claim ${name} is ${status.phase ?? 'new'}; its class is ${spec.storageClassName ?? 'not set'}.`
    return [{ source: 'claim', reason: 'ClaimNotBound', message }]
  })
}

interface ClaimLike extends ObjectLike {
  readonly spec?: { readonly storageClassName?: string }
  readonly status?: { readonly phase?: string }
}

interface EventLike extends ObjectLike {
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly series?: { readonly count?: number }
}

/** Events by `KIND/NAMESPACE/NAME`. */
function eventsByObject(histories: ReadonlyMap<string, History>): Map<string, PodEvent[]> {
  const result = new Map<string, PodEvent[]>()
  for (const { resource, versions } of histories.values()) {
    if (resource !== 'events') continue
    const version = versions.findLast(({ object }) => object)
    const event = version?.object as EventLike | undefined
    const { kind = '', namespace = '', name = '' } = event?.involvedObject ?? {}
    const { type = '', reason = '', message = '', count, series } = event ?? {}
    const key = `${kind}/${namespace}/${name}`
    const found = { time: version?.time, type, reason, message, count: count ?? series?.count ?? 1 }
    result.set(key, [...(result.get(key) ?? []), found])
  }
  for (const events of result.values()) events.sort((a, b) => (a.time ?? 0) - (b.time ?? 0))
  return result
}

/** An owner whose pods could not be created. */
export interface FailedOwner {
  readonly history: History
  readonly reasons: readonly string[]
}

/** Returns owners with a condition that says so, or with a warning about the creation of a pod. */
export function failedOwners(histories: ReadonlyMap<string, History>): FailedOwner[] {
  const events = eventsByObject(histories)
  return [...histories.values()].flatMap((history) => {
    const { kind, namespace, name, versions } = history
    if (kind === 'Pod' || kind === 'Event' || versions.at(-1)?.type === 'delete') return []
    const object = versions.at(-1)?.object as OwnerLike | undefined
    const conditions = (object?.status?.conditions ?? []).filter(
      ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
    )
    const warnings = (events.get(`${kind}/${namespace}/${name}`) ?? []).filter(
      ({ type, reason }) => type === 'Warning' && reason === 'FailedCreate',
    )
    const texts = [...conditions, ...warnings].map(({ reason, message }) => `${reason}: ${message}`)
    const groups = [...Map.groupBy(texts, withoutName).values()]
    return texts.length > 0 ? [{ history, reasons: groups.map(withCount) }] : []
  })
}

/** Each attempt has a new name: messages that differ in it only are shown once. */
export const withoutName = (message: string): string => message.replace('Error creating: ', '').replace(/"[^"]*"/, '')

const withCount = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} (and ${others.length} more like it)`

interface OwnerLike extends ObjectLike {
  readonly status?: {
    readonly conditions?: readonly { type?: string; status?: string; reason?: string; message?: string }[]
  }
}
