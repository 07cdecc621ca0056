/**
 * Turns at keys that several write at once: who has lost a race for a key waits for its turn, first come, first served.
 * A line forms only where somebody has lost, and ends with the last who waits. Turns only spare attempts in vain: what
 * makes writes correct is that they commit on condition that nothing has changed, so other servers need not know of
 * them.
 */
import { tooManyRequests } from '../../../machinery/status-error.ts'

export interface TurnLimits {
  /** Who takes longer, for admission perhaps, no longer keeps the others waiting. Milliseconds. */
  readonly exclusiveMs: number
  /** So many wait for one key. */
  readonly waiting: number
}

const usualLimits: TurnLimits = { exclusiveMs: 1000, waiting: 5000 }

export interface Turn {
  /** Whether nobody else has been let in yet. */
  readonly lasts: boolean
  /** Lets the next in. */
  end(): void
}

interface Line {
  turn: Turn | undefined
  /** In the order in which they came. */
  readonly waiting: Set<() => void>
  readonly timer: NodeJS.Timeout
}

export class Turns {
  readonly #limits: TurnLimits
  readonly #lines = new Map<string, Line>()

  constructor(limits = usualLimits) {
    this.#limits = limits
  }

  /** Whether it is somebody's turn at a key: who comes now would only be in the way. */
  isTaken(key: string): boolean {
    return this.#lines.size > 0 && this.#lines.has(key)
  }

  /**
   * Waits for the turn at a key, which has to be ended. Rejects with the signal's reason, and with 429 if too many
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
      get lasts() {
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
