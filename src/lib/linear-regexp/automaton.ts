/**
 * Runs a program over a text on all its ways at once. What was found out about a set of ways and a character is
 * remembered, so that most characters cost one look-up.
 */
import type { LinearRegexp } from './index.ts'
import type { Program } from './program.ts'
import { type Assertion, hasChar } from './syntax-tree.ts'

/** What stood before: it decides which assertions hold. */
export type Before = 'start' | 'newline' | 'word' | 'other'

/** Where the machine may stand. */
interface State {
  readonly at: readonly number[]
  readonly before: Before
  /** By ASCII character, and after them the end of the text. */
  readonly next: (State | boolean | undefined)[]
  readonly others: Map<number, State | boolean>
}

/** Bounds what is remembered. */
const mostStates = 256
const mostOthers = 256

/** What comes after the last character. */
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

  /** The state after a character; true as soon as there is a match, false when there can be none any more. */
  #advance(state: State, code: number): State | boolean {
    const next = this.#step(state, code)
    if (code < 128) state.next[code === end ? endSlot : code] = next
    else if (state.others.size < mostOthers) state.others.set(code, next)
    return next
  }

  #step({ at, before }: State, code: number): State | boolean {
    const { steps, start, anchored, looksAround } = this.#program
    const after = new Set<number>()
    const seen = new Set<number>(at)
    // What is added while the walk goes on is visited, too.
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
    if (this.#states.size >= mostStates) {
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

/** What the code point is to an assertion that looks back at it. */
export const kindOf = (code: number): Before => (code === 10 ? 'newline' : isWord(code) ? 'word' : 'other')

/** Whether an assertion holds between what stood before and the code point that follows (-1: the end of the text). */
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
