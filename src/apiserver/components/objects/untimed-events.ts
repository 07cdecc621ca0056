/**
 * Deletes old events that have no time to live in the store, since an earlier version wrote them, or a server with
 * `--event-ttl=0`. After one time to live of this server none is left.
 */
import { sleep } from '../../../lib/clock/clock.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { readStored } from '../../registry/conversion/read-stored.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'

export interface EventExpiryOptions {
  readonly registry: Registry
  /** The events as they are stored. */
  readonly events: ServedResource
  /** The time from the last write of an event to its removal, in ms. */
  readonly ttlMs: number
  readonly log: (line: string) => void
}

/** The default of `--event-ttl`: an hour, in ms. */
export const defaultEventTtlMs = 3_600_000
/** The start has more urgent work. */
const maxPauseMs = 300_000
const pageSize = 200

/** Looks for such events twice: soon, and when all of the start are old. The returned function ends it. */
export function endUntimedEvents({ registry, events, ttlMs, log }: EventExpiryOptions): () => void {
  const ending = new AbortController()
  const { signal } = ending
  const { clock } = registry

  /** Checks all events once. */
  async function sweep(): Promise<void> {
    const { end } = events.range('')
    let { start } = events.range('')
    for (let more = true; more && !signal.aborted; ) {
      const page = await registry.storeOf(events).list({ start, end, limit: pageSize })
      const last = page.entries.at(-1)
      more = page.more && last !== undefined
      if (last) start = `${last.key}\0`
      for (const { key, value, revision } of page.entries) {
        const isOver = lastWritten(readStored(events, key, value, revision).parse()) + ttlMs <= clock.now()
        // The revision is a condition: an event that was just written again stays.
        if (isOver) await registry.commits.remove(events, key, revision)
      }
    }
  }

  async function run(): Promise<void> {
    for (const pauseMs of [Math.min(ttlMs / 10, maxPauseMs), ttlMs]) {
      await sleep(clock, pauseMs, signal)
      if (!signal.aborted)
        await sweep().catch((error: Error) => !signal.aborted && log(`old events cannot be removed: ${error.message}`))
    }
  }

  void run()
  return () => ending.abort()
}

/** The last write of an object in ms since 1970, to the second. */
function lastWritten({ metadata: { creationTimestamp = '', managedFields = [] } }: KubeObject): number {
  return Math.max(
    ...[creationTimestamp, ...managedFields.map(({ time = '' }) => time)].map((time) => Date.parse(time) || 0),
  )
}
