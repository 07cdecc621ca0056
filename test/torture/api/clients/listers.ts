/**
 * Clients that list: newest, any, at a revision, not older than one; in full and in pages; of a kind, a namespace, a
 * label selector.
 */
import { contentOf, isOurs, type Kind, kinds, namespaces, type Seen, shards } from '../objects.ts'
import type { Item, ListSeen, Mode } from '../observation.ts'
import { pathOf, type Scope } from '../scope.ts'
import { type Connection, LateAnswerError, NoAnswerError } from './connection.ts'
import type { Arrival, Target } from './target.ts'
import { chance, pick } from './writers.ts'

interface ListAnswer {
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly Seen[]
}

export interface ListRequest {
  readonly scope: Scope
  readonly mode: Exclude<Mode, 'derived'>
  readonly wanted?: number
  /** Objects per page; 0 for no limit. */
  readonly limit?: number
  readonly label?: string
}

/** Returns the items of a response. Objects that were never written are faults. */
export function itemsOf(target: Target, kind: Kind, objects: readonly Seen[]): Item[] {
  const { history } = target
  const items: Item[] = []
  for (const object of objects) {
    const { namespace, name, resourceVersion } = object.metadata
    if (!isOurs(namespace)) continue
    try {
      items.push(history.item(history.key(kind, namespace, name), Number(resourceVersion), contentOf(kind, object)))
    } catch (error) {
      target.fault('only what was written is there', (error as Error).message)
    }
  }
  return items
}

/** Lists and records the result. Undefined without a response: the server was killed, or the revision is too old. */
export async function list(
  target: Target,
  connection: Connection,
  request: ListRequest,
): Promise<ListSeen | undefined> {
  const { scope, limit = 0, label = 'a list' } = request
  const what = `${label}${limit ? ` in pages of ${limit}` : ''}`
  try {
    return await listPages(target, connection, request, what)
  } catch (error) {
    if (error instanceof SyntaxError)
      target.fault('answers are whole', `${what} of ${scope.kind}: ${error.message.slice(-200)}`)
    else if (error instanceof LateAnswerError) target.fault('requests are answered', error.message)
    else if (!(error instanceof NoAnswerError)) throw error
    return undefined
  }
}

async function listPages(
  target: Target,
  connection: Connection,
  { scope, mode, wanted = 0, limit = 0 }: ListRequest,
  label: string,
): Promise<ListSeen | undefined> {
  const request = { scope, sent: performance.now(), connection: connection.name, label }
  const items: Item[] = []
  const pages: { revision: number; items: number; remaining?: number }[] = []
  let query = queryOf(mode, wanted, limit)
  for (;;) {
    const { status, text, at: answered } = await connection.request('GET', pathOf(scope, query))
    if (status === 410) {
      const revision = pages[0]?.revision ?? wanted
      target.observations.push({ what: 'expired', ...request, wanted: revision, answered })
      return undefined
    }
    if (status !== 200) {
      if (status !== 429) target.unexpected(`${label} of ${scope.kind}`, status, text)
      return undefined
    }
    const { metadata, items: objects } = JSON.parse(text) as ListAnswer
    for (const item of itemsOf(target, scope.kind, objects)) items.push(item)
    const revision = Number(metadata.resourceVersion)
    pages.push({ revision, items: objects.length, remaining: metadata.remainingItemCount })
    if (!metadata.continue) {
      const { revision } = pages[0]!
      const seen: ListSeen = { what: 'list', ...request, mode, wanted, revision, items, pages, answered }
      target.observations.push(seen)
      return seen
    }
    query = { limit: String(limit), continue: metadata.continue }
  }
}

function queryOf(mode: ListRequest['mode'], wanted: number, limit: number): Record<string, string> {
  const page: Record<string, string> = limit ? { limit: String(limit) } : {}
  switch (mode) {
    case 'newest':
      return page
    case 'any':
      return { ...page, resourceVersion: '0' }
    case 'exact':
      return { ...page, resourceVersion: String(wanted), resourceVersionMatch: 'Exact' }
    case 'not older':
      return { ...page, resourceVersion: String(wanted), resourceVersionMatch: 'NotOlderThan' }
  }
}

/** Returns a scope of any kind, rarely a large one. */
export function anyScope(): Scope {
  if (chance(0.01)) return { kind: pick(kinds) }
  const kind = pick(kinds)
  const whole = kind !== 'podtemplates' && chance(0.3)
  return {
    kind,
    ...(!whole && { namespace: pick(namespaces.slice(1)) }),
    ...(chance(0.4) && { shard: pick(shards) }),
  }
}

export interface ListerOptions {
  readonly scope: () => Scope
  /** Returns a recent revision. */
  readonly revision: () => number
  /** Maximum pause between two lists, in ms. */
  readonly restMs: number
  readonly arrival?: Arrival
}

/** Lists until `signal` aborts. */
export async function runLister(
  target: Target,
  connectionName: string,
  { scope, revision, restMs, arrival = 'late' }: ListerOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const connection = await target.connection(connectionName, signal, arrival)
    if (!connection) return
    const mode = pick(['newest', 'newest', 'newest', 'any', 'exact', 'not older'] as const)
    const wanted = mode === 'exact' || mode === 'not older' ? revision() : 0
    await list(target, connection, { scope: scope(), mode, wanted, limit: chance(0.3) ? pick([50, 500, 2000]) : 0 })
    await new Promise((resolve) => setTimeout(resolve, restMs * Math.random()))
  }
}
