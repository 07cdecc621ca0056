/** Reads the objects of a list: which revision, which page, what is selected. */
import { badRequest, StatusError } from '../../../machinery/status-error.ts'
import type { KeyRange } from '../../../storage/store.ts'
import type { ListMeta } from '../../negotiation/representation.ts'
import { decodeContinue, encodeContinue } from '../../request/continue-token.ts'
import type { ListOptions } from '../../request/list-options.ts'
import { parseResourceVersion } from '../../request/parameters.ts'
import type { Registry } from '../registry.ts'
import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'
import { type Selection, selection } from './selection.ts'

export interface ObjectList {
  readonly objects: readonly StoredObject[]
  readonly meta: ListMeta
}

/** The state that a page is cut from. */
interface Source {
  /** All objects of the range: other clients may be at earlier pages. */
  readonly objects: readonly StoredObject[]
  readonly revision: number
  /** Where the page begins. */
  readonly start: number
}

export async function listObjects(registry: Registry, resource: ServedResource, namespace: string, options: ListOptions): Promise<ObjectList> {
  const range = resource.range(namespace)
  const chosen = selection(range.start, options.labels, options.fields)
  const { source, limit } = options.continue
    ? { source: await continued(registry, resource, range, options), limit: options.limit }
    : await first(registry, resource, range, options)
  return page(registry, resource, range, source, limit, chosen)
}

/** The source of a first page. A limit counts for it unless any state will do (`resourceVersion=0`). */
async function first(
  registry: Registry,
  resource: ServedResource,
  range: KeyRange,
  { resourceVersion, match, limit }: ListOptions,
): Promise<{ source: Source; limit: number }> {
  const cacher = registry.cacher(resource)
  const wanted = parseResourceVersion(resourceVersion)
  if (wanted !== 0 && (match === 'Exact' || (match === '' && limit > 0))) {
    await cacher.waitFor(wanted)
    const { objects } = await cacher.listAt(range, wanted, 0)
    return { source: { objects, revision: wanted, start: 0 }, limit }
  }
  await cacher.waitFor(wanted)
  const source: Source = { objects: cacher.objects.slice(range), revision: cacher.revision, start: 0 }
  return { source, limit: resourceVersion === '0' ? 0 : limit }
}

async function continued(registry: Registry, resource: ServedResource, range: KeyRange, options: ListOptions): Promise<Source> {
  const token = decodeContinue(options.continue)
  if (options.resourceVersion && options.resourceVersion !== '0') throw badRequest('specifying resource version is not allowed when using continue')
  const cacher = registry.cacher(resource)
  await cacher.ready()
  const start = range.start + token.start
  if (token.revision < 0) return source(cacher.objects.slice(range), cacher.revision, start)
  const snapshot = registry.snapshots.find(range.start, token.revision)
  if (snapshot) return source(snapshot, token.revision, start)
  try {
    const { objects } = await cacher.listAt(range, token.revision, 0)
    return source(objects, token.revision, start)
  } catch (error) {
    if (error instanceof StatusError && error.code === 410) throw expiredContinue(token.start)
    throw error
  }
}

/** The state from a key on. */
function source(objects: readonly StoredObject[], revision: number, key: string): Source {
  const start = objects.findIndex((object) => object.key >= key)
  return { objects, revision, start: start < 0 ? objects.length : start }
}

/** 410 with a token that goes on from the newest state instead. */
function expiredContinue(start: string): StatusError {
  const error = new StatusError(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata.continue = encodeContinue({ revision: -1, start })
  return error
}

function page(registry: Registry, resource: ServedResource, range: KeyRange, source: Source, limit: number, chosen: Selection): ObjectList {
  const view = registry.view(resource)
  const native = resource.storage === resource
  const meta: ListMeta = { resourceVersion: String(source.revision) }
  if (limit === 0) {
    // The array itself where it is all of it: representations remember what they made of it.
    const rest = source.start === 0 ? source.objects : source.objects.slice(source.start)
    if (chosen.everything) return { objects: native ? rest : rest.map(view), meta }
    return { objects: rest.map(view).filter((object) => chosen.matches(object)), meta }
  }
  const objects: StoredObject[] = []
  let at = source.start
  for (; at < source.objects.length && objects.length < limit; at++) {
    const object = view(source.objects[at]!)
    if (chosen.everything || chosen.matches(object)) objects.push(object)
  }
  if (at === source.objects.length) return { objects, meta }
  registry.snapshots.remember(range.start, source.revision, source.objects)
  const last = source.objects[at - 1]!.key.slice(range.start.length)
  return {
    objects,
    meta: {
      ...meta,
      continue: encodeContinue({ revision: source.revision, start: `${last}\0` }),
      ...(chosen.everything && { remainingItemCount: source.objects.length - at }),
    },
  }
}
