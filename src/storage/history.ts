/** Reads history in portions, so that a long history neither blocks the event loop nor fills the memory. */
import type { ChangeEvent, Changes, PortionSize } from './store.ts'

/** The changes that a driver provides, oldest first. Values may be read lazily, in `event`. */
export interface ChangeLog {
  readonly revision: number
  /** The changes after `revision` in order. `event` is called only for the changes that are returned. */
  changesAfter(revision: number): Iterable<{ readonly key: string; readonly revision: number; event(): ChangeEvent }>
}

/** The default size of a portion. */
export const defaultPortion: PortionSize = { events: 1000, bytes: 1024 * 1024 }

/** Changes between two checks of the clock. */
const stepsPerClockCheck = 256

/**
 * Returns the next portion of the changes after revision `after` whose keys match. A portion ends at a whole revision
 * once it has reached `size` or `deadline` (ms of performance.now()) has passed.
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
    full ||= ++steps % stepsPerClockCheck === 0 && performance.now() >= deadline
  }
  return { events, through: log.revision }
}
