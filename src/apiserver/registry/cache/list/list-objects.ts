/** Reads the objects of a list: finds the revision and the page, and applies the selectors. */
import { after } from '../../../../lib/flow/after.ts'
import { badRequest, expired, internal, StatusError } from '../../../../machinery/status-error.ts'
import { CompactedError, FutureRevisionError, type KeyRange } from '../../../../storage/store.ts'
import type { ListOptions } from '../../../request-options/list-options.ts'
import { parseListVersion } from '../../../request-options/parameters.ts'
import type { Registry } from '../../registry.ts'
import type { ServedResource } from '../../served-resource.ts'
import type { StoredObject } from '../../stored-object.ts'
import type { CacheView } from '../cache-view.ts'
import { StaleCacheError } from '../cacher.ts'
import type { View } from '../object-change.ts'
import type { ListMeta } from '../representation.ts'
import { type Selection, selection } from '../selection.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'

export interface ObjectList {
  readonly objects: readonly StoredObject[]
  readonly meta: ListMeta
}

/** A list request, independent of the state it is read from. */
interface Query {
  readonly registry: Registry
  readonly resource: ServedResource
  readonly range: KeyRange
  readonly chosen: Selection
  readonly view: View
  /** 0: all. */
  readonly limit: number
}

/** Returns the list synchronously if the requested state is in memory. */
export function listObjects(
  registry: Registry,
  resource: ServedResource,
  namespace: string,
  options: ListOptions,
): ObjectList | Promise<ObjectList> {
  const range = resource.range(namespace)
  const chosen = selection(range.start, options.labels, options.fields)
  const query: Query = { registry, resource, range, chosen, view: registry.view(resource).show, limit: options.limit }
  return options.continue ? listNext(query, options) : listFirst(query, options)
}

/**
 * The first page. Without a resourceVersion it shows all writes before the request. The limit is ignored if any state
 * will do (`resourceVersion=0`).
 */
function listFirst(query: Query, { resourceVersion, match, limit }: ListOptions): ObjectList | Promise<ObjectList> {
  const requested = parseListVersion(resourceVersion)
  const cacher = query.registry.cacher(query.resource)
  if (resourceVersion === '') return newestList(query)
  return after<CacheView, ObjectList>(cacher.waitFor(requested), (cache) => {
    if (requested !== 0 && (match === 'Exact' || (match === '' && limit > 0)))
      return fromHistory(query, cache, requested, query.range.start)
    const unlimited = resourceVersion === '0' && limit > 0 ? { ...query, limit: 0 } : query
    return fromArray(unlimited, cache.objects.slice(query.range), cache.revision, query.range.start)
  })
}

/**
 * A list that shows all writes before the request. If the cache does not show them in time, since it is behind another
 * server's writes, they are read from the store.
 */
async function newestList(query: Query): Promise<ObjectList> {
  const cacher = query.registry.cacher(query.resource)
  try {
    const cache = await cacher.consistent()
    cacher.counts.consistentReads++
    return await fromArray(query, cache.objects.slice(query.range), cache.revision, query.range.start)
  } catch (error) {
    if (!(error instanceof StaleCacheError)) throw error
    return fromHistory(query, await cacher.ready(), error.wanted, query.range.start)
  }
}

/** A later page: at the first page's revision, or at the newest if the token says so. */
async function listNext(query: Query, options: ListOptions): Promise<ObjectList> {
  const { registry, resource, range } = query
  const token = decodeContinue(options.continue)
  if (options.resourceVersion && options.resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue')
  const from = range.start + token.start
  const cacher = registry.cacher(resource)
  if (token.revision < 0) {
    const { objects, revision } = await cacher.consistent()
    return fromArray(query, objects.slice(range), revision, from)
  }
  const cache = await cacher.ready()
  // No snapshot is used once the store has compacted its revision: a client that requests one page again and again must
  // get 410 at some time.
  const isCompacted = token.revision < registry.storeOf(resource).compactedRevision
  const snapshot = isCompacted ? undefined : registry.snapshots.find(range.start, token.revision)
  if (snapshot) return fromArray(query, snapshot, token.revision, from)
  try {
    return await fromHistory(query, cache, token.revision, from)
  } catch (error) {
    if (error instanceof StatusError && error.code === 410) throw expiredContinue(token.start)
    throw error
  }
}

/** 410 with a token that continues from the newest state instead. */
function expiredContinue(start: string): StatusError {
  const error = new StatusError(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
      'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
      'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata.continue = encodeContinue({ revision: -1, start })
  return error
}

/** Objects that are scanned before other requests get their turn. */
const objectsPerTurn = 1000

function countCached({ registry, resource }: Query, fetched: number, returned: number): void {
  const { cacheLists } = registry.cacher(resource).counts
  cacheLists.total++
  cacheLists.fetched += fetched
  cacheLists.returned += returned
}

/** All objects of the range at `revision`, or a page of them, starting at a key. */
function fromArray(
  query: Query,
  objects: readonly StoredObject[],
  revision: number,
  from: string,
): ObjectList | Promise<ObjectList> {
  const { chosen, resource, limit } = query
  const start = indexFrom(objects, from)
  if (limit > 0) return pageOf(query, objects, revision, start)
  // Return the array itself if it is complete: representations cache their encoding by it.
  const remaining = start === 0 ? objects : objects.slice(start)
  const isUnchanged = chosen.selectsAll && resource.storage === resource && !resource.conversion
  return after<readonly StoredObject[], ObjectList>(isUnchanged ? remaining : selected(query, remaining), (result) => {
    countCached(query, remaining.length, result.length)
    return { objects: result, meta: { resourceVersion: String(revision) } }
  })
}

/** As many objects as the limit allows, starting at an index. */
async function pageOf(
  query: Query,
  objects: readonly StoredObject[],
  revision: number,
  start: number,
): Promise<ObjectList> {
  const { chosen, view, registry, range, limit } = query
  const page: StoredObject[] = []
  let index = start
  for (let prepared = start; index < objects.length && page.length < limit; index++) {
    if (index === prepared) prepared = await prepare(query, objects, index)
    const object = view(objects[index]!)
    if (chosen.selectsAll || chosen.matches(object)) page.push(object)
    if ((index - start) % objectsPerTurn === objectsPerTurn - 1) await new Promise(setImmediate)
  }
  countCached(query, index - start, page.length)
  if (index === objects.length) return { objects: page, meta: { resourceVersion: String(revision) } }
  registry.snapshots.remember(range.start, revision, objects)
  return { objects: page, meta: metaOf(query, revision, objects[index - 1]!.key, objects.length - index) }
}

/** Converts objects from an index on, if the resource needs that. Returns the index up to which they can be viewed. */
function prepare(
  { registry, resource, chosen, limit }: Query,
  objects: readonly StoredObject[],
  from: number,
): number | Promise<number> {
  if (!resource.conversion) return objects.length
  // Without a selector, convert exactly the page.
  const end = Math.min(objects.length, from + (limit > 0 && chosen.selectsAll ? limit : objectsPerTurn))
  const prepared = registry.view(resource).prepare(() => objects.slice(from, end))
  return prepared ? prepared.then(() => end) : end
}

/** The selected objects, in the form that the resource shows. */
async function selected(query: Query, objects: readonly StoredObject[]): Promise<StoredObject[]> {
  const { chosen, view } = query
  const found: StoredObject[] = []
  for (let i = 0, prepared = 0; i < objects.length; i++) {
    if (i === prepared) prepared = await prepare(query, objects, i)
    const object = view(objects[i]!)
    if (chosen.selectsAll || chosen.matches(object)) found.push(object)
    if (i % objectsPerTurn === objectsPerTurn - 1) await new Promise(setImmediate)
  }
  return found
}

/** A page at an older revision, read from the store starting at a key, and no more of it than needed. */
async function fromHistory(query: Query, cache: CacheView, revision: number, from: string): Promise<ObjectList> {
  const { chosen, view, registry, range, limit } = query
  const page: StoredObject[] = []
  const { storeLists } = registry.cacher(query.resource).counts
  let fetched = 0
  let evaluated = 0
  try {
    for (let start = from; ; ) {
      const { objects, more } = await cache.listAt(
        { start, end: range.end },
        revision,
        Math.min(limit || objectsPerTurn, objectsPerTurn),
      )
      fetched += objects.length
      let index = 0
      for (let prepared = 0; index < objects.length && (limit === 0 || page.length < limit); index++) {
        if (index === prepared) prepared = await prepare(query, objects, index)
        const object = view(objects[index]!)
        if (chosen.selectsAll || chosen.matches(object)) page.push(object)
      }
      evaluated += index
      if (index === objects.length && !more) return { objects: page, meta: { resourceVersion: String(revision) } }
      const last = objects[index - 1]!.key
      start = `${last}\0`
      if (limit === 0 || page.length < limit) continue
      const remaining = chosen.selectsAll
        ? await registry.storeOf(query.resource).count({ start, end: range.end, revision })
        : 0
      return { objects: page, meta: metaOf(query, revision, last, remaining) }
    }
  } catch (error) {
    if (error instanceof CompactedError) throw expired()
    if (error instanceof FutureRevisionError) throw internal(error.message)
    throw error
  } finally {
    storeLists.total++
    storeLists.fetched += fetched
    storeLists.evaluated += evaluated
    storeLists.returned += page.length
  }
}

/** The metadata of a page that is not the last one; `last` is the key of its last object. */
const metaOf = ({ range, chosen }: Query, revision: number, last: string, remaining: number): ListMeta => ({
  resourceVersion: String(revision),
  continue: encodeContinue({ revision, start: `${last.slice(range.start.length)}\0` }),
  ...(chosen.selectsAll && { remainingItemCount: remaining }),
})

/** The index of the first object whose key is not before `key`. */
function indexFrom(objects: readonly StoredObject[], key: string): number {
  let low = 0
  let high = objects.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (objects[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}
