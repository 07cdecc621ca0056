/** The time that a request may wait in a queue: a quarter of its total time, since its arrival. */
import type { Request } from '../http/exchange.ts'

const maxMs = 60_000

/** In ms from `now`; negative if the time is over. */
export function waitLimit(
  { received, deadline }: Pick<Request, 'received' | 'deadline'>,
  requestTimeoutMs: number,
  now: number,
): number {
  const whole = deadline === undefined ? requestTimeoutMs : deadline - received
  return Math.min(maxMs, whole / 4) - (now - received)
}
