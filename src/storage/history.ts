/**
 * Reads history in portions, so that neither a long past nor a large one holds up the event loop or fills the memory.
 */
import type { ChangeEvent, Changes, PortionSize } from './store.ts'

/** What a driver lends: its changes after a revision, oldest first. Values may be read when the event is made. */
export interface ChangeLog {
  readonly revision: number
  /** The changes after `revision` in order; `event` is asked only for those that are wanted. */
  changesAfter(revision: number): Iterable<{ readonly key: string; readonly revision: number; event(): ChangeEvent }>
}

/** What one portion holds unless said otherwise. */
export const usualPortion: PortionSize = { events: 1000, bytes: 1024 * 1024 }

/** Changes between two looks at the clock. */
const stepsPerLook = 256

/**
 * The next portion of what `matches` after revision `after`. It ends behind a whole revision once it is large enough or
 * `deadline` (ms of performance.now()) has passed.
 */
export function readPortion(
  log: ChangeLog,
  after: number,
  matches: (key: string) => boolean,
  size: PortionSize,
  deadline: number,
): Changes {
  const events: ChangeEvent[] = []
  let bytes = 0
  let steps = 0
  let through = after
  let full = false
  for (const change of log.changesAfter(after)) {
    if (change.revision > through && through > after && full) return { events, through }
    through = change.revision
    if (matches(change.key)) {
      const event = change.event()
      events.push(event)
      bytes += (event.value?.length ?? 0) + (event.previous?.value.length ?? 0)
      full = events.length >= size.events || bytes >= size.bytes
    }
    full ||= ++steps % stepsPerLook === 0 && performance.now() >= deadline
  }
  return { events, through: log.revision }
}
