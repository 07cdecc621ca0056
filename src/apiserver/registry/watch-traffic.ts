/**
 * Counters of the events sent to watches of a resource in one version. Plain numbers, read when the metrics are
 * scraped.
 */
import { Distribution } from '../../lib/metrics/registry.ts'

/** Bytes, from 1 KB to 128 KB. */
export const eventSizes: readonly number[] = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072]
/** Seconds until a watch that begins with the state has sent it. */
export const watchListSeconds: readonly number[] = [
  0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60,
]

export class WatchTraffic {
  events = 0
  readonly sizes = new Distribution(eventSizes)
  /** By scope: `cluster`, `namespace`. */
  readonly listed = new Map<string, Distribution>()

  sent(sizes: readonly number[]): void {
    this.events += sizes.length
    for (const size of sizes) this.sizes.observe(size)
  }

  listedIn(scope: string, seconds: number): void {
    let times = this.listed.get(scope)
    if (!times) this.listed.set(scope, (times = new Distribution(watchListSeconds)))
    times.observe(seconds)
  }
}
