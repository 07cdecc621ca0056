/**
 * Finds the matches of an expression: the leftmost, with Perl preference (earlier alternatives and greedy repetitions
 * first). Follows all threads at the same time, in order of preference, each with its start position.
 */
import { Automaton, type Before, holds, kindOf } from './automaton.ts'
import type { Program } from './program.ts'
import { hasChar } from './syntax-tree.ts'

/** Finding all matches can take quadratic time; this limits the steps. */
const maxWork = 20_000_000

/** The error if a text would take too many steps. */
export class TooMuchWork extends Error {
  constructor() {
    super('regular expression takes too many steps')
    this.name = 'TooMuchWork'
  }
}

interface Match {
  readonly start: number
  readonly end: number
}

export class Finder {
  readonly #program: Program
  readonly #automaton: Automaton
  /** The round in which each step was last visited. */
  readonly #visited: Int32Array
  readonly #threads = new Threads()
  readonly #readers = new Threads()
  readonly #open = new Threads()
  #round = 0
  #work = 0

  constructor(program: Program) {
    this.#program = program
    this.#automaton = new Automaton(program)
    this.#visited = new Int32Array(program.steps.length)
  }

  /**
   * Returns the matches from left to right, at most `limit` (negative: all). Skips an empty match directly after
   * another match. Throws TooMuchWork.
   */
  findAll(text: string, limit = -1): string[] {
    const found: string[] = []
    this.#work = 0
    if (limit === 0 || !this.#automaton.test(text)) return found
    let last = -1
    for (let from = 0; from <= text.length && (limit < 0 || found.length < limit); ) {
      const match = this.#next(text, from)
      if (!match) break
      const { start, end } = match
      if (end > start || start !== last) found.push(text.slice(start, end))
      // After an empty match, continue at the next character.
      from = end > from ? end : from + width(text, from)
      last = end
    }
    return found
  }

  #next(text: string, from: number): Match | undefined {
    const { steps, start, anchored } = this.#program
    const threads = this.#threads
    const readers = this.#readers
    let before: Before = from === 0 ? 'start' : kindOf(codeBefore(text, from))
    let match: Match | undefined
    threads.size = 0
    for (let at = from; ; ) {
      // A later start has the lowest preference, and none once there is a match.
      if (!match && (at === 0 || !anchored)) threads.add(start, at)
      const code = at < text.length ? (text.codePointAt(at) ?? 0) : -1
      this.#follow(before, code)
      threads.size = 0
      for (let i = 0; i < readers.size; i++) {
        const step = steps[readers.steps[i]!]
        if (step?.kind === 'match') {
          match = { start: readers.starts[i]!, end: at }
          break
        }
        if (step?.kind === 'read' && code >= 0 && hasChar(step.chars, code)) threads.add(step.next, readers.starts[i]!)
      }
      if (code < 0 || (threads.size === 0 && (match || anchored))) return match
      before = kindOf(code)
      at += code > 0xffff ? 2 : 1
    }
  }

  /** Fills `readers` with the reachable read and match steps, in order of preference, each once. */
  #follow(before: Before, code: number): void {
    const threads = this.#threads
    const readers = this.#readers
    const open = this.#open
    const visited = this.#visited
    const { steps } = this.#program
    const round = ++this.#round
    readers.size = 0
    open.size = 0
    // In reverse order, since this is a stack.
    for (let i = threads.size - 1; i >= 0; i--) open.add(threads.steps[i]!, threads.starts[i]!)
    while (open.size > 0) {
      const at = open.steps[--open.size]!
      const start = open.starts[open.size]!
      if (visited[at] === round) continue
      visited[at] = round
      if (++this.#work > maxWork) throw new TooMuchWork()
      const step = steps[at]
      if (step?.kind === 'fork') for (let i = step.ways.length - 1; i >= 0; i--) open.add(step.ways[i]!, start)
      else if (step?.kind === 'assert') {
        if (holds(step.assertion, before, code)) open.add(step.next, start)
      } else readers.add(at, start)
    }
  }
}

/** Threads: the step and the start position of each. Reused for every character. */
class Threads {
  readonly steps: number[] = []
  readonly starts: number[] = []
  size = 0

  add(step: number, start: number): void {
    this.steps[this.size] = step
    this.starts[this.size++] = start
  }
}

const width = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

function codeBefore(text: string, at: number): number {
  const low = text.charCodeAt(at - 1)
  return low >= 0xdc00 && low < 0xe000 && at > 1 ? (text.codePointAt(at - 2) ?? low) : low
}
