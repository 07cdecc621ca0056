/** Checks reads of single objects: each must show a state that existed between the read's request and its response. */
import type { ExpiredSeen, Observation, ReadSeen } from '../observation.ts'
import { showScope } from '../scope.ts'
import { type Change, type Fault, type History, type ObjectKey, showKey, showWrite, type Write } from './history.ts'
import type { RevisionClock } from './revision-clock.ts'

/** A state of an object. It existed before `end`, and certainly before `sure`. */
interface Life {
  readonly put: Write
  sure: number
  end: number
}

export function checkReads(
  history: History,
  changes: readonly Change[],
  observations: readonly Observation[],
  clock: RevisionClock,
): Fault[] {
  const lives = livesOf(changes)
  const faults: Fault[] = []
  for (const observation of observations) {
    const fault =
      observation.what === 'read'
        ? readFault(observation, lives.get(observation.key) ?? [], clock)
        : observation.what === 'expired'
          ? expiryFault(observation, history.compactable)
          : undefined
    if (fault) faults.push(fault)
  }
  return faults
}

function livesOf(changes: readonly Change[]): Map<ObjectKey, Life[]> {
  const lives = new Map<ObjectKey, Life[]>()
  for (const { key, put, previous, revision, after } of changes) {
    let own = lives.get(key)
    if (!own) lives.set(key, (own = []))
    const last = own.at(-1)
    if (last && previous === last.put) {
      last.sure = after === undefined ? revision : after + 1
      last.end = revision
    }
    if (put) own.push({ put, sure: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY })
  }
  return lives
}

function readFault(read: ReadSeen, lives: readonly Life[], clock: RevisionClock): Fault | undefined {
  const { key, found, mode, sent, answered, connection, label } = read
  const earliest = mode === 'newest' ? clock.floor(sent) : clock.newestShown(connection, sent)
  const latest = clock.ceiling(answered)
  const promise = 'a read sees earlier acknowledged writes'
  const between = `between revision ${earliest} and ${latest}`
  if (typeof found !== 'string') {
    const life = lives.find(({ put }) => put.count === found.count)
    if (!life || life.put.revision !== found.revision) return undefined // `learn` has reported it.
    if (life.end <= earliest)
      return {
        promise,
        evidence:
          `${label} of ${showKey(key)} shows revision ${found.revision}, which ended at ${life.end}; it was ` +
          `read ${between}`,
      }
    if (found.revision > latest)
      return {
        promise: 'a read shows no future state',
        evidence: `${label} of ${showKey(key)} shows ${found.revision} ${between}`,
      }
    return undefined
  }
  const meanwhile = lives.filter(({ put, end }) => put.revision <= latest && end > earliest)
  if (found === 'present')
    return meanwhile.length > 0
      ? undefined
      : { promise, evidence: `${label}: ${showKey(key)} does not exist ${between}` }
  // Absence is possible before the first state, after the last, or between two.
  let covered = earliest
  for (const { put, sure } of meanwhile) {
    if (put.revision > covered) return undefined
    covered = Math.max(covered, sure)
  }
  if (meanwhile.length === 0 || covered <= latest) return undefined
  return {
    promise,
    evidence: `${label}: ${showKey(key)} was not found, expected ${showWrite(meanwhile.at(-1)!.put)} ${between}`,
  }
}

function expiryFault({ label, scope, wanted }: ExpiredSeen, compactable: number): Fault | undefined {
  if (wanted < compactable) return undefined
  return {
    promise: 'history that was not compacted is available',
    evidence: `${label} of ${showScope(scope)} after ${wanted} is expired; nothing after ${compactable} was compacted`,
  }
}
