/** Follows the objects of a resource: all of them first, then each that changes, for as long as the server runs. */
import type { Cacher } from '../registry/cache/cacher.ts'
import type { StoredObject } from '../registry/stored-object.ts'

/** A view that ended is replaced; the store needs a moment when it has had a fault. */
const againMs = 100

/**
 * `changed` is called with an object, or with undefined and the key of one that is gone. Rejects if the first load
 * fails.
 */
export async function follow(
  cacher: Cacher,
  changed: (key: string, object: StoredObject | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const view = await cacher.ready()
  if (signal.aborted) return
  for (const object of view.objects.slice(cacher.resource.range(''))) changed(object.key, object)
  const end = view.subscribe({
    changes: (batch) => {
      for (const { type, object } of batch) changed(object.key, type === 'put' ? object : undefined)
    },
    end: () => {
      if (signal.aborted) return
      const restart = (): void => void follow(cacher, changed, signal).catch(() => setTimeout(restart, againMs).unref())
      setTimeout(restart, againMs).unref()
    },
  })
  signal.addEventListener('abort', end, { once: true })
}
