/**
 * Turns for keys with several concurrent writers: a writer that has lost a race for a key waits for its turn, first
 * come, first served. A queue forms only after a loss, and ends with the last waiter. Turns only avoid attempts in
 * vain: correctness comes from commits on the condition that nothing has changed, so other servers need not know of the
 * turns.
 */
import { tooManyRequests } from '../../../machinery/status-error.ts'

export interface TurnLimits {
  /** The time in ms after which a turn, slow because of admission perhaps, no longer blocks the others. */
  readonly exclusiveMs: number
  /** The maximum number of writers that wait for one key. */
  readonly waiting: number
}

const usualLimits: TurnLimits = { exclusiveMs: 1000, waiting: 5000 }

export interface Turn {
  /** True if no other writer has been admitted yet. */
  readonly isExclusive: boolean
  /** Admits the next writer. */
  end(): void
}

interface Line {
  turn: Turn | undefined
  /** In order of arrival. */
  readonly waiting: Set<() => void>
  readonly timer: NodeJS.Timeout
}

export class Turns {
  readonly #limits: TurnLimits
  readonly #lines = new Map<string, Line>()

  constructor(limits = usualLimits) {
    this.#limits = limits
  }

  /** Returns true if a writer has the turn for a key: another attempt now would fail. */
  isTaken(key: string): boolean {
    return this.#lines.size > 0 && this.#lines.has(key)
  }

  /**
   * Waits for the turn for a key; the caller has to end it. Rejects with the signal's reason, and with 429 if too many
   * wait.
   */
  take(key: string, signal?: AbortSignal): Promise<Turn> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const line = this.#lines.get(key)
      if (!line) return resolve(this.#begin(key, this.#open(key)))
      if (line.waiting.size >= this.#limits.waiting)
        return reject(tooManyRequests('Too many requests, please try again later.', 1))
      const enter = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve(this.#begin(key, line))
      }
      const leave = (): void => {
        line.waiting.delete(enter)
        reject(signal?.reason)
      }
      line.waiting.add(enter)
      signal?.addEventListener('abort', leave)
    })
  }

  #open(key: string): Line {
    const line: Line = {
      turn: undefined,
      waiting: new Set(),
      timer: setTimeout(() => this.#next(key, line), this.#limits.exclusiveMs).unref(),
    }
    this.#lines.set(key, line)
    return line
  }

  #begin(key: string, line: Line): Turn {
    const turn: Turn = {
      get isExclusive() {
        return line.turn === turn
      },
      end: () => {
        if (line.turn === turn) this.#next(key, line)
      },
    }
    line.turn = turn
    return turn
  }

  #next(key: string, line: Line): void {
    const [enter] = line.waiting
    if (enter) {
      line.waiting.delete(enter)
      line.timer.refresh()
      enter()
      return
    }
    line.turn = undefined
    clearTimeout(line.timer)
    this.#lines.delete(key)
  }
}
