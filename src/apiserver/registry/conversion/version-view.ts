/**
 * How one version of a resource shows stored objects: unchanged, converted by functions of the definition, or converted
 * by a webhook. Each object is converted once.
 */
import type { CacheView } from '../cache/cache-view.ts'
import type { ChangeFeed, View } from '../cache/object-change.ts'
import { WatchHub } from '../cache/watch/watch-hub.ts'
import type { ServedResource } from '../served-resource.ts'
import { encode, StoredObject, spliceRevision, summarize } from '../stored-object.ts'
import { ConvertedFeed } from './converted-feed.ts'
import { ConvertedObjects } from './converted-objects.ts'

export class VersionView {
  /** Shows a stored object. If a webhook converts the version, the object must have been prepared. */
  readonly show: View
  /** Set if a webhook converts the version: its watches deliver at their own speed. */
  readonly hub: WatchHub | undefined
  readonly #conversions: ConvertedObjects | undefined
  #feed: { readonly view: CacheView; readonly feed: ConvertedFeed } | undefined

  constructor(resource: ServedResource, log: (line: string) => void) {
    const { conversion } = resource
    this.#conversions = conversion && new ConvertedObjects(resource, conversion)
    this.hub = conversion && new WatchHub(log)
    this.show = this.#conversions?.view ?? viewOf(resource)
  }

  /**
   * Converts stored objects, if a webhook has to, so that they can be shown. Rejects with a StatusError if one cannot
   * be converted.
   */
  prepare(objects: () => readonly StoredObject[]): Promise<void> | undefined {
    return this.#conversions?.prepare(objects())
  }

  /** Shows a stored object, and prepares it first if necessary. */
  shown(object: StoredObject): StoredObject | Promise<StoredObject> {
    return this.#conversions ? this.#conversions.prepare([object]).then(() => this.show(object)) : this.show(object)
  }

  /** The source of changes for watches that have received everything up to `revision`. */
  feed(view: CacheView, revision: number): ChangeFeed {
    const conversions = this.#conversions
    if (!conversions) return view
    if (this.#feed?.view === view && !this.#feed.feed.hasEnded) return this.#feed.feed
    const feed = new ConvertedFeed(view, (objects) => conversions.prepare(objects), revision)
    this.#feed = { view, feed }
    return feed
  }
}

function viewOf(resource: ServedResource): View {
  if (resource.storage === resource) return (object) => object
  const converted = new WeakMap<StoredObject, StoredObject>()
  return (object) => {
    let shown = converted.get(object)
    if (!shown) converted.set(object, (shown = fromStorage(resource, object)))
    return shown
  }
}

/** Converts a stored object to a version by the function of its definition. */
function fromStorage(resource: ServedResource, object: StoredObject): StoredObject {
  const parsed = object.parse()
  const shown = resource.definition.storedAs?.fromStorage?.(parsed) ?? parsed
  shown.apiVersion = resource.groupVersion
  shown.kind = resource.definition.kind
  const bytes = spliceRevision(resource, encode(resource, shown), object.revision)
  const view = new StoredObject(resource, object.key, object.revision, bytes, summarize(resource, shown))
  view.outdated = object.outdated
  return view
}
