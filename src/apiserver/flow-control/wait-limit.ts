/** How long a request may wait in a queue: a quarter of the time that it has as a whole, from when it came in. */
import type { Request } from '../http/exchange.ts'

const longestMs = 60_000

/** From `now` on; not more than nothing where the time is over. */
export function waitLimit(
  { received, deadline }: Pick<Request, 'received' | 'deadline'>,
  requestTimeoutMs: number,
  now: number,
): number {
  const whole = deadline === undefined ? requestTimeoutMs : deadline - received
  return Math.min(longestMs, whole / 4) - (now - received)
}
