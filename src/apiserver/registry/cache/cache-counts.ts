/**
 * Counters of the cache of one resource and of its requests to the store. Plain numbers, read when the metrics are
 * scraped.
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
  /** Completed loads, and the objects that they loaded. */
  initializations = 0
  initEvents = 0
  /** Events received from the store, and those of them that were delivered to listeners. */
  eventsReceived = 0
  eventsDispatched = 0
  readonly cacheLists = { total: 0, fetched: 0, returned: 0 }
  readonly storeLists = { total: 0, fetched: 0, evaluated: 0, returned: 0 }
  /** Lists of the newest state that were served from memory. */
  consistentReads = 0
  readonly waits = new Distribution(waitSeconds)
  readonly store = new Map<StoreOperation, Distribution>()
  readonly storeFailures = new Map<StoreOperation, number>()

  /** The result of a request to the store, which is counted and measured. */
  async measured<Result>(operation: StoreOperation, request: Promise<Result>): Promise<Result> {
    const started = performance.now()
    try {
      return await request
    } catch (error) {
      this.storeFailures.set(operation, (this.storeFailures.get(operation) ?? 0) + 1)
      throw error
    } finally {
      let times = this.store.get(operation)
      if (!times) this.store.set(operation, (times = new Distribution(storeSeconds)))
      times.observe((performance.now() - started) / 1000)
    }
  }
}
