/** State that all connections of a listener share: its limits, and the counters for them. */
import { BodyBudget } from './body-budget.ts'
import { defaultLimits, type ListenerLimits } from './limits.ts'
import { TurnClock } from './turn-clock.ts'
import { UnreadAnswers } from './unread-answers.ts'

export interface Bounds {
  readonly limits: ListenerLimits
  readonly budget: BodyBudget
  readonly unread: UnreadAnswers
  readonly turn: TurnClock
}

/** `limits` overrides the defaults. */
export function boundsOf(limits: Partial<ListenerLimits> = {}): Bounds {
  const all = { ...defaultLimits, ...limits }
  return {
    limits: all,
    budget: new BodyBudget(all),
    unread: new UnreadAnswers(all.idleTimeoutMs),
    turn: new TurnClock(),
  }
}
