/** Truncates large events: first the request and response objects are removed, then the event itself. */
import type { ReportLoss, StagedEvent, TruncateOptions } from './backend.ts'

/** Returns the event as JSON without the opening brace; undefined if it is too large even without its objects. */
export function truncated(
  staged: StagedEvent,
  options: TruncateOptions | undefined,
  lost: ReportLoss,
): string | undefined {
  const { event, stage, ms } = staged
  const members = event.members(stage, ms)
  if (!options || fits(members, options.maxEventSize)) return members
  const slim = event.config.includesRequest ? event.members(stage, ms, true) : members
  if (fits(slim, options.maxEventSize)) return slim
  lost('truncate', 1, 'event is too large even after truncating')
  return undefined
}

const maxBytesOfCharacter = 3

/** True if the text has at most this number of bytes. They are counted only if the bounds do not decide. */
const fits = (text: string, bytes: number): boolean =>
  text.length <= bytes && (text.length * maxBytesOfCharacter <= bytes || Buffer.byteLength(text) <= bytes)
