/**
 * The loop of every write of an object that may be there already: reads it, makes an attempt, and makes another on the
 * newer object as often as somebody else was faster. Nothing is lost, and nobody gives up before the request has ended.
 */
import { serverTimeout } from '../../../machinery/status-error.ts'
import { RetiredError } from '../cache/cacher.ts'
import type { Lost } from '../registry.ts'
import type { StoredObject } from '../stored-object.ts'
import type { Turn } from './turns.ts'
import type { WriteContext } from './write-context.ts'

export interface GuaranteedWrite<Result extends object> {
  /** For the words of an error. */
  readonly operation: 'update' | 'delete'
  /** Called with the live object, until it does not lose. */
  readonly attempt: (live: StoredObject | undefined) => Promise<Result | Lost>
  /** It names a version, so on a newer object it fails: it had better not wait. */
  readonly conditional?: boolean
}

/** So often may other objects' conditions not hold. Who checked them did not know the newest ones then. */
const maxRefusals = 3

/**
 * Throws what `attempt` throws, 500 ServerTimeout if other objects stand against it, 429 if too many write this one.
 */
export async function guaranteedWrite<Result extends object>(
  context: WriteContext,
  write: GuaranteedWrite<Result>,
): Promise<Result> {
  const { registry, resource, namespace, name } = context
  const key = resource.key(namespace, name)
  // A dry run is in nobody's way.
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
 * An attempt on the object in memory. Another server may have written since: what then fails, or changes nothing, has
 * not been held against the newest object, and counts as lost.
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
  const isNewest = async (): Promise<boolean> => (await registry.store.get(key))?.revision === cached?.revision
  let outcome: Result | Lost
  try {
    outcome = await attempt(cached)
  } catch (error) {
    if (await isNewest()) throw error
    return 'changed'
  }
  return cached && Object.is(outcome, cached) && !(await isNewest()) ? 'changed' : outcome
}

/**
 * A write that began under a definition that has changed meanwhile is one from before: what it is held against, the
 * store tells.
 */
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
      // One that took too long has let others in: it stands in line again.
      if (!turn?.lasts) turn = await registry.turns.take(key, signal)
      const outcome = await attempt(await registry.newest(resource, key))
      if (typeof outcome !== 'string') return outcome
      if (outcome === 'refused' && ++refusals > maxRefusals) throw serverTimeout(resource.groupResource, operation)
      signal?.throwIfAborted()
    }
  } finally {
    turn?.end()
  }
}
