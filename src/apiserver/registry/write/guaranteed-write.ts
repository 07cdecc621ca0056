/**
 * The loop of every write of an object that may exist: reads it, makes an attempt, and makes another on the newer
 * object whenever another writer was faster. No write is lost, and the loop does not give up before the request has
 * ended.
 */
import { StatusError, serverTimeout } from '../../../machinery/status-error.ts'
import { RetiredError } from '../cache/cacher.ts'
import type { StoredObject } from '../stored-object.ts'
import type { Lost } from './commits.ts'
import type { Turn } from './turns.ts'
import type { WriteContext } from './write-context.ts'

export interface GuaranteedWrite<Result extends object> {
  /** Used in error messages. */
  readonly operation: 'update' | 'delete'
  /** Called with the live object, until it does not lose. */
  readonly attempt: (live: StoredObject | undefined) => Promise<Result | Lost>
  /** It names a version, so it fails on a newer object: waiting would be pointless. */
  readonly conditional?: boolean
}

/** How often conditions on other objects may fail. They were checked against outdated objects then. */
const maxRefusals = 3

/**
 * Throws what `attempt` throws, 500 ServerTimeout if conditions on other objects fail, 429 if too many writers wait.
 */
export async function guaranteedWrite<Result extends object>(
  context: WriteContext,
  write: GuaranteedWrite<Result>,
): Promise<Result> {
  const { registry, resource, namespace, name } = context
  const key = resource.key(namespace, name)
  // A dry run blocks nobody.
  const waits = !write.conditional && !context.options.dryRun
  if (waits && registry.turns.isTaken(key)) return inTurn(context, write, key, 0)
  let outcome = await attemptOnCached(context, write, key)
  if (typeof outcome !== 'string') return outcome
  let refusals = outcome === 'refused' ? 1 : 0
  if (!waits) {
    outcome = await write.attempt(await registry.newest(resource, key))
    if (typeof outcome !== 'string') return outcome
    if (outcome === 'refused') refusals++
  }
  return inTurn(context, write, key, refusals)
}

/**
 * An attempt on the cached object. Another server may have written it since: an attempt that fails, or changes nothing,
 * was not compared with the newest object, and counts as lost.
 */
async function attemptOnCached<Result extends object>(
  { registry, resource }: WriteContext,
  { attempt }: GuaranteedWrite<Result>,
  key: string,
): Promise<Result | Lost> {
  const found = registry.get(resource, key)
  const cached =
    found instanceof Promise
      ? await found.catch((error) => orNewest(error, () => registry.newest(resource, key)))
      : found
  const isNewest = async (): Promise<boolean> =>
    (await registry.storeOf(resource).get(key))?.revision === cached?.revision
  let outcome: Result | Lost
  try {
    outcome = await attempt(cached)
  } catch (error) {
    // The store's errors say nothing about the object. After one of them it may have been written: another attempt
    // would compare it with itself.
    if (!(error instanceof StatusError) || (await isNewest())) throw error
    return 'changed'
  }
  return cached && Object.is(outcome, cached) && !(await isNewest()) ? 'changed' : outcome
}

/** A write that began under a definition that has changed in the meantime reads the object from the store. */
function orNewest<T>(error: unknown, newest: () => Promise<T>): Promise<T> {
  if (error instanceof RetiredError) return newest()
  throw error
}

async function inTurn<Result extends object>(
  { registry, resource, request }: WriteContext,
  { operation, attempt }: GuaranteedWrite<Result>,
  key: string,
  refusals: number,
): Promise<Result> {
  const signal = request?.signal
  let turn: Turn | undefined
  try {
    for (;;) {
      // A turn that took too long is no longer exclusive: queue again.
      if (!turn?.isExclusive) turn = await registry.turns.take(key, signal)
      const outcome = await attempt(await registry.newest(resource, key))
      if (typeof outcome !== 'string') return outcome
      if (outcome === 'refused' && ++refusals > maxRefusals) throw serverTimeout(resource.groupResource, operation)
      signal?.throwIfAborted()
    }
  } finally {
    turn?.end()
  }
}
