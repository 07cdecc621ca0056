/** Calls a listener for all objects of a resource, then for each changed one, as long as the server runs. */
import type { Cacher } from '../registry/cache/cacher.ts'
import type { StoredObject } from '../registry/stored-object.ts'

/** Delay before an ended view is replaced, in ms: the store may need time to recover from a fault. */
const retryDelayMs = 100

/**
 * Calls `changed` with an object, or with undefined for a deleted one. Rejects if the first load fails.
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
      const restart = (): void =>
        void follow(cacher, changed, signal).catch(() => setTimeout(restart, retryDelayMs).unref())
      setTimeout(restart, retryDelayMs).unref()
    },
  })
  signal.addEventListener('abort', end, { once: true })
}
