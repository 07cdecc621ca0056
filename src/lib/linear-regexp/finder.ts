/** Finds the matches of an expression: the leftmost, with Perl preference. */
import type { RE2JS } from 're2js'
import { threadCpuMs } from '../process/cpu-ms.ts'

/** Finding all matches can take quadratic time; this limits the CPU time. */
const maxCpuMs = 500
/** The CPU time is read after searches of this many characters in total: for short texts never. */
const charsPerCheck = 1_000_000

/** The error if a text would take too much time. */
export class TooMuchWork extends Error {
  constructor() {
    super('regular expression takes too many steps')
    this.name = 'TooMuchWork'
  }
}

export class Finder {
  readonly #expression: RE2JS

  constructor(expression: RE2JS) {
    this.#expression = expression
  }

  /**
   * Returns the matches from left to right, at most `limit` (negative: all). Skips an empty match directly after
   * another match, as Go does. Throws TooMuchWork.
   */
  findAll(text: string, limit = -1): string[] {
    const found: string[] = []
    if (limit === 0 || !this.#expression.test(text)) return found
    const matcher = this.#expression.matcher(text)
    let last = -1
    let unchecked = text.length
    let startMs: number | undefined
    while ((limit < 0 || found.length < limit) && matcher.find()) {
      const start = matcher.start()
      const end = matcher.end()
      if (end > start || start !== last) found.push(text.slice(start, end))
      last = end
      // The next search may read the rest of the text.
      unchecked += text.length - end
      if (unchecked < charsPerCheck) continue
      unchecked = 0
      const nowMs = threadCpuMs()
      startMs ??= nowMs
      if (nowMs - startMs > maxCpuMs) throw new TooMuchWork()
    }
    return found
  }
}
