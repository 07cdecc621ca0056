/**
 * What the cache of one resource, and its requests to the store, have done so far. Plain numbers: metrics read them
 * when somebody asks.
 */
import { Distribution } from '../../../lib/metrics/registry.ts'

/** Seconds, as upstream's `etcd_request_duration_seconds`. */
export const storeSeconds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
/** Seconds, as upstream's `apiserver_watch_cache_read_wait_seconds`. */
export const waitSeconds: readonly number[] = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3]

export type StoreOperation = 'create' | 'update' | 'delete' | 'get' | 'list'

export class CacheCounts {
  /** Loads that were completed, and the objects that they brought. */
  initializations = 0
  initEvents = 0
  /** Events of the store, and those of them that listeners were told. */
  eventsReceived = 0
  eventsDispatched = 0
  readonly cacheLists = { total: 0, fetched: 0, returned: 0 }
  readonly storeLists = { total: 0, fetched: 0, evaluated: 0, returned: 0 }
  /** Lists of the newest state that memory has answered. */
  consistentReads = 0
  readonly waits = new Distribution(waitSeconds)
  readonly store = new Map<StoreOperation, Distribution>()

  /** A request to the store that began at `started`, in ms of performance.now(). */
  stored(operation: StoreOperation, started: number): void {
    let times = this.store.get(operation)
    if (!times) this.store.set(operation, (times = new Distribution(storeSeconds)))
    times.observe((performance.now() - started) / 1000)
  }
}
