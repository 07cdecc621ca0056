/**
 * Clients that watch, and informers that list and watch: they continue after interruptions, and list again when history
 * has expired.
 */
import { contentOf, isOurs, type Seen } from '../objects.ts'
import { applyEvents, type ListSeen, type WatchSeen } from '../observation.ts'
import { pathOf, type Scope, showScope } from '../scope.ts'
import type { Connection, LineStream } from './connection.ts'
import { list } from './listers.ts'
import type { Arrival, Target } from './target.ts'
import { chance, pick } from './writers.ts'

interface Line {
  readonly type: string
  readonly object: Seen & { readonly code?: number }
}

export interface Watching {
  readonly seen: WatchSeen
  readonly stream: LineStream
  /** Resolves when the watch has ended and `seen.end` is set. */
  readonly over: Promise<void>
}

/** Starts a watch and records its events. */
export function watch(
  target: Target,
  connection: Connection,
  scope: Scope,
  from: WatchSeen['from'],
  label: string,
  timeoutSeconds?: number,
): Watching {
  const { history, observations } = target
  const seen: WatchSeen = { what: 'watch', scope, from, sent: performance.now(), events: [], label }
  observations.push(seen)
  const query: Record<string, string> = { watch: 'true', allowWatchBookmarks: 'true' }
  if (timeoutSeconds) query.timeoutSeconds = String(timeoutSeconds)
  if (from === 'streamed') Object.assign(query, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' })
  else if (from !== 'any') query.resourceVersion = String(from)
  else if (chance(0.5)) query.resourceVersion = '0'
  const stream = connection.lines(pathOf(scope, query), (text, at) => {
    const { type, object } = JSON.parse(text) as Line
    if (type === 'ERROR') {
      if (object.code === 410) seen.end = 'expired'
      else target.unexpected(`${label} of ${showScope(scope)} from ${from}`, object.code ?? 0, text)
      return
    }
    const { name, namespace, resourceVersion, annotations } = object.metadata
    const revision = Number(resourceVersion)
    if (type === 'BOOKMARK')
      seen.events.push({ type, revision, initialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true', at })
    else if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      if (!isOurs(namespace)) return
      try {
        seen.events.push({
          ...history.item(history.key(scope.kind, namespace, name), revision, contentOf(scope.kind, object)),
          type,
          at,
        })
      } catch (error) {
        target.fault('a watch delivers the changes', `${label}: ${(error as Error).message}`)
      }
    } else target.fault('a watch delivers the changes', `${label} got an event of type ${type}`)
  })
  const over = Promise.all([stream.status, stream.ended]).then(([status, whole]) => {
    seen.end ??= whole ? 'ended' : 'cut'
    if (status === 410) seen.end = 'expired'
    else if (status !== 0 && status !== 200 && status !== 429)
      target.unexpected(`${label} of ${showScope(scope)}`, status, '')
  })
  return { seen, stream, over }
}

/** Returns the newest revision that a watch has delivered. */
const newestIn = ({ events, from }: WatchSeen): number =>
  events.at(-1)?.revision ?? (typeof from === 'number' ? from : 0)

export type InformerStyle = 'whole' | 'pages' | 'streamed'

/**
 * Behaves like client-go's reflector: lists, watches from there, resumes after interruptions, lists again after 410.
 */
export class Informer {
  readonly scope: Scope
  readonly #target: Target
  readonly #connectionName: string
  readonly #style: InformerStyle
  readonly #synced = Promise.withResolvers<void>()
  /** Resolves after the first list. */
  readonly synced = this.#synced.promise
  /** The current watch. */
  current: WatchSeen | undefined
  #revision = 0
  /** The content of its cache: the last list and the watches since. */
  #listed: ListSeen | undefined
  #watches: WatchSeen[] = []

  constructor(target: Target, connectionName: string, scope: Scope, style: InformerStyle) {
    this.#target = target
    this.#connectionName = connectionName
    this.scope = scope
    this.#style = style
  }

  /** The newest revision that it has received. */
  get revision(): number {
    return Math.max(this.#revision, this.current ? newestIn(this.current) : 0)
  }

  /** Returns its cache as a list to be checked, as a controller would see it. */
  cache(): ListSeen | undefined {
    if (this.#revision === 0 && !this.current) return undefined
    const items = new Map((this.#listed?.items ?? []).map((item) => [item.key.id, item]))
    for (const { events } of this.#watches) applyEvents(items, events)
    const now = performance.now()
    const { scope, revision } = this
    return {
      what: 'list',
      label: 'the cache of an informer',
      scope,
      mode: 'derived',
      wanted: 0,
      revision,
      items: [...items.values()],
      pages: [],
      connection: '',
      sent: now,
      answered: now,
    }
  }

  /** Runs until `signal` aborts. `slow` informers pause reading from time to time. */
  async run(signal: AbortSignal, slow = false, arrival: Arrival = 'late'): Promise<void> {
    while (!signal.aborted) {
      const connection = await this.#target.connection(this.#connectionName, signal, arrival)
      if (!connection) return
      let from: WatchSeen['from'] = this.#revision
      if (from === 0) {
        this.#listed = undefined
        this.#watches = []
        if (this.#style === 'streamed') from = 'streamed'
        else {
          const seen = await list(this.#target, connection, {
            scope: this.scope,
            mode: chance(0.3) ? 'any' : 'newest',
            limit: this.#style === 'pages' ? 500 : 0,
            label: 'the list of an informer',
          })
          if (!seen) continue
          from = this.#revision = seen.revision
          this.#listed = seen
          this.#synced.resolve()
        }
      }
      await this.#follow(connection, from, signal, slow)
    }
  }

  async #follow(connection: Connection, from: WatchSeen['from'], signal: AbortSignal, slow: boolean): Promise<void> {
    const label = `the ${from === 'streamed' ? 'streaming list' : 'watch'} of an informer`
    const watching = watch(
      this.#target,
      connection,
      this.scope,
      from,
      label,
      chance(0.5) ? 3 + Math.floor(Math.random() * 20) : undefined,
    )
    this.current = watching.seen
    this.#watches.push(watching.seen)
    const cancel = (): void => watching.stream.cancel()
    signal.addEventListener('abort', cancel)
    const pauses = slow ? setInterval(() => pauseFor(watching.stream, 500 + Math.random() * 2000), 4000) : undefined
    await watching.over
    clearInterval(pauses)
    signal.removeEventListener('abort', cancel)
    const { seen } = watching
    const complete =
      from !== 'streamed' || seen.events.some((event) => event.type === 'BOOKMARK' && event.initialEventsEnd)
    if (seen.end === 'expired') this.#revision = 0
    else if (complete) this.#revision = Math.max(this.#revision, newestIn(seen))
    if (complete) this.#synced.resolve()
    this.current = undefined
  }
}

function pauseFor(stream: LineStream, ms: number): void {
  stream.pause()
  setTimeout(() => stream.resume(), ms)
}

/** Starts watches from random revisions, each for some seconds, until `signal` aborts. */
export async function runHistorian(
  target: Target,
  connectionName: string,
  scope: () => Scope,
  revision: () => number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const connection = await target.connection(connectionName, signal, 'late')
    if (!connection) return
    const from = pick<WatchSeen['from'] | undefined>(['any', 'streamed', undefined, undefined, undefined]) ?? revision()
    const watching = watch(target, connection, scope(), from, 'a watch', 30)
    const timer = setTimeout(() => watching.stream.cancel(), 500 + Math.random() * 5000)
    const cancel = (): void => watching.stream.cancel()
    signal.addEventListener('abort', cancel)
    await watching.over
    signal.removeEventListener('abort', cancel)
    clearTimeout(timer)
  }
}
