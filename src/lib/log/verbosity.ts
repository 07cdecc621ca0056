/** How much a program logs, in klog's levels (`-v`). It may change while the program runs. */
import type { Log } from './log.ts'

export class Verbosity {
  /** 0 is quiet; most programs have nothing to say above 5. */
  level: number
  readonly #log: Log

  constructor(level: number, log: Log) {
    this.level = level
    this.#log = log
  }

  /** Logs a message of a level, if it is shown. `text` is called only then. */
  log(level: number, text: () => string): void {
    if (this.level >= level) this.#log(text())
  }
}
