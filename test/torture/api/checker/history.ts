/**
 * The history of all writes with their outcomes, against which observations are checked. Most outcomes come from
 * responses; writes whose response was lost in a kill, and the revisions of deletes, are learned from observations.
 */
import type { Kind } from '../objects.ts'
import type { Item, Observation } from '../observation.ts'
import { isSelective } from '../scope.ts'
import type { RevisionClock } from './revision-clock.ts'

export interface ObjectKey {
  readonly id: number
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

export type Action = 'create' | 'update' | 'patch' | 'delete'

export interface Write {
  /** A unique number of the write. Deletes have one too, which no object shows. */
  readonly count: number
  readonly key: ObjectKey
  readonly action: Action
  /** The label of the object after the write. */
  readonly shard: number
  /** The revision that a delete removes. */
  readonly base: number
  readonly sent: number
  /** Infinity without a response. */
  answered: number
  outcome: 'acknowledged' | 'refused' | 'unknown'
  /** 0 while unknown. */
  revision: number
  /** The range of a delete that was not observed: later than `after`, not later than `by`. */
  window?: { readonly after: number; readonly by: number }
}

/** A violation of the server's guarantees. */
export interface Fault {
  readonly promise: string
  readonly evidence: string
}

/** The effect of one write at its revision. `previous` is the state that it replaced or removed. */
export interface Change {
  readonly revision: number
  readonly key: ObjectKey
  /** Undefined for a delete. */
  readonly put: Write | undefined
  readonly previous: Write | undefined
  /** For a delete that was not observed: its revision is later than `after` and not later than `revision`. */
  readonly after?: number
}

export const showKey = ({ kind, namespace, name }: ObjectKey): string => `${kind} ${namespace}/${name}`

export const showWrite = ({ action, key, count, revision, base, outcome }: Write): string =>
  `${action} of ${showKey(key)} ${action === 'delete' ? `at ${base}` : `with count ${count}`} ` +
  `(${outcome}${revision ? `, revision ${revision}` : ''})`

export class History {
  readonly #keys = new Map<string, ObjectKey>()
  readonly #keysOfKind = new Map<Kind, ObjectKey[]>()
  readonly #writes: Write[] = []
  /** Revisions before this one may have been compacted. Infinity while a server compacts. */
  compactable = 0

  key(kind: Kind, namespace: string, name: string): ObjectKey {
    const text = `${kind}/${namespace}/${name}`
    let key = this.#keys.get(text)
    if (!key) {
      this.#keys.set(text, (key = { id: this.#keys.size, kind, namespace, name }))
      const others = this.#keysOfKind.get(kind)
      if (others) others.push(key)
      else this.#keysOfKind.set(kind, [key])
    }
    return key
  }

  get keyCount(): number {
    return this.#keys.size
  }

  keysOf(kind: Kind): readonly ObjectKey[] {
    return this.#keysOfKind.get(kind) ?? []
  }

  get writes(): readonly Write[] {
    return this.#writes
  }

  /** Records a write before it is sent, so that it cannot be observed earlier. */
  begin(key: ObjectKey, action: Action, shard: number, sent: number, base = 0): Write {
    const write: Write = {
      count: this.#writes.length,
      key,
      action,
      shard,
      base,
      sent,
      answered: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
      revision: 0,
    }
    this.#writes.push(write)
    return write
  }

  /** Returns the item of an observed object. Throws if no such write was sent. */
  item(key: ObjectKey, revision: number, { count, shard }: { readonly count: number; readonly shard: number }): Item {
    const write = this.#writes[count]
    if (!write || write.key !== key || write.action === 'delete')
      throw new Error(`${showKey(key)} at ${revision} shows count ${count}, which was never written to it`)
    if (write.shard !== shard)
      throw new Error(
        `${showKey(key)} at ${revision} has shard ${shard} with count ${count}, which was written with ${write.shard}`,
      )
    return { key, revision, count }
  }

  /** Learns revisions from observations. Returns contradictions. */
  learn(observations: readonly Observation[]): Fault[] {
    const faults: Fault[] = []
    const byRevision = new Map<number, Write>()
    const know = (write: Write, label: string): void => {
      const other = byRevision.get(write.revision)
      if (other && other !== write)
        faults.push({
          promise: 'a revision is of one write only',
          evidence: `revision ${write.revision} is ${showWrite(other)} and ${showWrite(write)} (${label})`,
        })
      else byRevision.set(write.revision, write)
    }
    for (const write of this.#writes) if (write.revision) know(write, 'acknowledged')
    const see = ({ key, revision, count }: Item, label: string): void => {
      const write = this.#writes[count]!
      if (write.revision === revision && write.outcome !== 'refused') return
      if (write.outcome === 'refused')
        faults.push({
          promise: 'a rejected write has no effect',
          evidence: `${label} shows the ${showWrite(write)} at ${revision}`,
        })
      else if (write.revision)
        faults.push({
          promise: 'a write has one revision',
          evidence: `${label} shows ${showKey(key)} at ${revision}, but it is the ${showWrite(write)}`,
        })
      else {
        write.revision = revision
        know(write, label)
      }
    }
    for (const observation of observations) {
      const { label } = observation
      if (observation.what === 'list') for (const item of observation.items) see(item, label)
      else if (observation.what === 'read' && typeof observation.found !== 'string') see(observation.found, label)
      else if (observation.what === 'watch')
        for (const event of observation.events)
          if (event.type === 'ADDED' || event.type === 'MODIFIED') see(event, label)
    }
    this.#learnDeletes(observations, byRevision, know, faults)
    return faults
  }

  #learnDeletes(
    observations: readonly Observation[],
    byRevision: ReadonlyMap<number, Write>,
    know: (write: Write, label: string) => void,
    faults: Fault[],
  ): void {
    const deletes = Map.groupBy(
      this.#writes.filter(({ action, outcome }) => action === 'delete' && outcome !== 'refused'),
      ({ key }) => key,
    )
    const puts = putsByKey(this.#writes)
    const reported = new Set<number>()
    for (const observation of observations) {
      if (observation.what !== 'watch') continue
      for (const event of observation.events) {
        if (event.type !== 'DELETED' || byRevision.has(event.revision) || reported.has(event.revision)) continue
        const { key, revision } = event
        const before = puts.get(key)?.findLast((put) => put.revision < revision)
        const write = deletes.get(key)?.find(({ base, revision }) => base === before?.revision && !revision)
        if (write) {
          write.revision = revision
          know(write, observation.label)
        } else if (!isSelective(observation.scope)) {
          reported.add(revision)
          faults.push({
            promise: 'only written changes happen',
            evidence: `${observation.label} shows ${showKey(key)} deleted at ${revision}, which no client did`,
          })
        }
      }
    }
  }

  /** Returns all changes ordered by revision, and faults of their order. Call `learn` before. */
  changes(
    observations: readonly Observation[],
    clock: RevisionClock,
  ): { readonly changes: Change[]; readonly faults: Fault[] } {
    const changes: Change[] = []
    const faults: Fault[] = []
    const removals = new Map<Write, Write>()
    const puts = putsByKey(this.#writes)
    for (const write of this.#writes) {
      if (write.action !== 'delete' || write.outcome === 'refused') continue
      const removed = puts.get(write.key)?.find(({ revision }) => revision === write.base)
      if (!removed) continue
      const other = removals.get(removed)
      // Of several only one can have happened: the one with the best evidence.
      if (!other || rank(write) > rank(other)) removals.set(removed, write)
    }
    for (const [key, states] of puts) {
      let live: Write | undefined
      states.forEach((put, i) => {
        if (put.action === 'create' && live)
          faults.push({
            promise: 'nothing acknowledged is lost',
            evidence: `${showWrite(put)} created an object that existed and was not deleted: ${showWrite(live)}`,
          })
        if (put.action !== 'create' && !live)
          faults.push({
            promise: 'deleted objects stay deleted',
            evidence: `${showWrite(put)} changed an object that does not exist`,
          })
        changes.push({ revision: put.revision, key, put, previous: live })
        live = put
        const removal = removals.get(put)
        const next = states[i + 1]
        if (!removal || !happened(removal, next)) return
        if (removal.revision) changes.push({ revision: removal.revision, key, put: undefined, previous: put })
        else changes.push(unseenDelete(removal, put, next, observations, clock))
        live = undefined
      })
    }
    for (const removal of this.#maybeDeletes(removals, puts, observations, clock)) changes.push(removal)
    changes.sort((a, b) => (a.revision < b.revision ? -1 : a.revision > b.revision ? 1 : 0))
    return { changes, faults }
  }

  /** Yields deletes without a response that were the last write of their object and whose effect was observed. */
  *#maybeDeletes(
    removals: ReadonlyMap<Write, Write>,
    puts: ReadonlyMap<ObjectKey, readonly Write[]>,
    observations: readonly Observation[],
    clock: RevisionClock,
  ): Generator<Change> {
    for (const [put, removal] of removals) {
      if (removal.revision || removal.outcome === 'acknowledged' || puts.get(put.key)!.at(-1) !== put) continue
      const change = unseenDelete(removal, put, undefined, observations, clock)
      if (Number.isFinite(change.revision)) yield change
    }
  }
}

const rank = ({ revision, outcome }: Write): number => (revision ? 2 : outcome === 'acknowledged' ? 1 : 0)

/** A delete without a response has happened if the object was created again. */
const happened = ({ revision, outcome }: Write, next: Write | undefined): boolean =>
  revision > 0 || outcome === 'acknowledged' || next?.action === 'create'

function putsByKey(writes: readonly Write[]): Map<ObjectKey, Write[]> {
  const puts = new Map<ObjectKey, Write[]>()
  for (const write of writes) {
    if (write.action === 'delete' || !write.revision) continue
    const states = puts.get(write.key)
    if (states) states.push(write)
    else puts.set(write.key, [write])
  }
  for (const states of puts.values()) states.sort((a, b) => a.revision - b.revision)
  return puts
}

/**
 * Derives the range of a delete that was not observed: after the last list with the object, not after the first list
 * without it or its next state. An acknowledged delete is also after the revision known at its request and before the
 * revisions written after its response.
 */
function unseenDelete(
  removal: Write,
  put: Write,
  next: Write | undefined,
  observations: readonly Observation[],
  clock: RevisionClock,
): Change {
  let after = Math.max(put.revision, removal.window?.after ?? 0, clock.floor(removal.sent))
  let by = Math.min(next?.revision ?? Number.POSITIVE_INFINITY, removal.window?.by ?? Number.POSITIVE_INFINITY)
  if (removal.outcome === 'acknowledged') by = Math.min(by, clock.ceiling(removal.answered))
  for (const observation of observations) {
    if (observation.what !== 'list' || observation.scope.kind !== put.key.kind || isSelective(observation.scope))
      continue
    const { scope, revision, items } = observation
    if (revision <= after || revision >= by) continue
    if (
      (scope.namespace !== undefined && scope.namespace !== put.key.namespace) ||
      (scope.name !== undefined && scope.name !== put.key.name)
    )
      continue
    if (items.some(({ key }) => key === put.key)) after = revision
    else by = revision
  }
  removal.window = { after, by }
  return { revision: by, after, key: put.key, put: undefined, previous: put }
}
