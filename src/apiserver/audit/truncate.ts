/** Cuts events that are too large: first the objects of request and answer go, then the event itself. */
import type { ReportLoss, StagedEvent, TruncateOptions } from './backend.ts'

/**
 * The event's members without the first brace, as they may be kept; undefined if it is too large without its objects
 * too.
 */
export function truncated(
  staged: StagedEvent,
  options: TruncateOptions | undefined,
  lost: ReportLoss,
): string | undefined {
  const { event, stage, ms } = staged
  const members = event.members(stage, ms)
  if (!options || fits(members, options.maxEventSize)) return members
  const slim = event.config.keepsRequest ? event.members(stage, ms, true) : members
  if (fits(slim, options.maxEventSize)) return slim
  lost('truncate', 1, 'event is too large even after truncating')
  return undefined
}

const mostBytesOfCharacter = 3

/** Whether the text has no more bytes; they are counted only where it is close. */
const fits = (text: string, bytes: number): boolean =>
  text.length <= bytes && (text.length * mostBytesOfCharacter <= bytes || Buffer.byteLength(text) <= bytes)
