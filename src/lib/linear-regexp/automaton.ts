/**
 * Runs a program over a text, following all threads at the same time. Transitions between sets of threads are cached,
 * so that most characters cost one lookup (a lazy DFA).
 */
import type { LinearRegexp } from './index.ts'
import type { Program } from './program.ts'
import { type Assertion, hasChar } from './syntax-tree.ts'

/** The kind of the previous character, which decides which assertions hold. */
export type Before = 'start' | 'newline' | 'word' | 'other'

/** A set of threads (a DFA state). */
interface State {
  readonly at: readonly number[]
  readonly before: Before
  /** Transitions by ASCII character, then for the end of the text. */
  readonly next: (State | boolean | undefined)[]
  readonly others: Map<number, State | boolean>
}

/** Limits of the cache. */
const maxStates = 256
const maxOthers = 256

/** The code after the last character. */
const end = -1
const endSlot = 128

export class Automaton implements LinearRegexp {
  readonly #program: Program
  readonly #states = new Map<string, State>()
  #first: State | undefined

  constructor(program: Program) {
    this.#program = program
  }

  test(text: string): boolean {
    let state = (this.#first ??= this.#state([this.#program.start], 'start'))
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i)
      if (code >= 0xd800 && code < 0xdc00) {
        code = text.codePointAt(i) ?? code
        if (code > 0xffff) i++
      }
      const next = (code < 128 ? state.next[code] : state.others.get(code)) ?? this.#advance(state, code)
      if (typeof next === 'boolean') return next
      state = next
    }
    return (state.next[endSlot] ?? this.#advance(state, end)) === true
  }

  /** The state after a character; true for a match, false if no match is possible. */
  #advance(state: State, code: number): State | boolean {
    const next = this.#step(state, code)
    if (code < 128) state.next[code === end ? endSlot : code] = next
    else if (state.others.size < maxOthers) state.others.set(code, next)
    return next
  }

  #step({ at, before }: State, code: number): State | boolean {
    const { steps, start, anchored, looksAround } = this.#program
    const after = new Set<number>()
    const seen = new Set<number>(at)
    // Elements that are added during the iteration are visited, too.
    for (const place of seen) {
      const step = steps[place]!
      switch (step.kind) {
        case 'match':
          return true
        case 'fork':
          for (const way of step.ways) seen.add(way)
          break
        case 'assert':
          if (holds(step.assertion, before, code)) seen.add(step.next)
          break
        case 'read':
          if (code !== end && hasChar(step.chars, code)) after.add(step.next)
      }
    }
    if (code === end) return false
    if (!anchored) after.add(start)
    return after.size === 0
      ? false
      : this.#state(
          [...after].sort((a, b) => a - b),
          looksAround ? kindOf(code) : 'other',
        )
  }

  #state(at: readonly number[], before: Before): State {
    const name = `${before}${at.join(',')}`
    const known = this.#states.get(name)
    if (known) return known
    if (this.#states.size >= maxStates) {
      this.#states.clear()
      this.#first = undefined
    }
    const state: State = {
      at,
      before,
      next: new Array<State | boolean | undefined>(129).fill(undefined),
      others: new Map(),
    }
    this.#states.set(name, state)
    return state
  }
}

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)

/** The kind of a code point for assertions after it. */
export const kindOf = (code: number): Before => (code === 10 ? 'newline' : isWord(code) ? 'word' : 'other')

/** True if an assertion holds between the previous kind and the next code point (-1: end of the text). */
export function holds(assertion: Assertion, before: Before, code: number): boolean {
  switch (assertion) {
    case 'text-start':
      return before === 'start'
    case 'text-end':
      return code === end
    case 'line-start':
      return before === 'start' || before === 'newline'
    case 'line-end':
      return code === end || code === 10
    case 'word-boundary':
      return (before === 'word') !== (code !== end && isWord(code))
    case 'no-word-boundary':
      return (before === 'word') === (code !== end && isWord(code))
    default:
      return assertion satisfies never
  }
}
