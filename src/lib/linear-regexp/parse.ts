/** Parses expressions as Go's `regexp/syntax` with Perl flags, with Go's error messages. */
import { asciiClass, perlClass, unicodeClass } from './classes.ts'
import type { CharClass, Node } from './syntax-tree.ts'

/** The error for an invalid expression, with Go's message. */
export class RegexpSyntaxError extends Error {
  constructor(what: string, text: string) {
    super(`error parsing regexp: ${what}: \`${text}\``)
    this.name = 'RegexpSyntaxError'
  }
}

/** Go's limits: for a repetition and the product of nested ones, and for the nesting of groups. */
const maxRepeats = 1000
const maxDepth = 1000

interface Flags {
  readonly ignoreCase: boolean
  readonly multiLine: boolean
  readonly dotAll: boolean
  readonly ungreedy: boolean
}

interface Bounds {
  readonly min: number
  readonly max: number
  readonly counted: boolean
  readonly lazy: boolean
}

export function parse(source: string): Node {
  return new Parser(source).whole()
}

const lastCode = 0x10ffff
const escaped: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }
const isDigit = (char: string | undefined): char is string => char !== undefined && char >= '0' && char <= '9'

class Parser {
  readonly #source: string
  readonly #names = new Set<string>()
  #at = 0
  #depth = 0
  #flags: Flags = { ignoreCase: false, multiLine: false, dotAll: false, ungreedy: false }

  constructor(source: string) {
    this.#source = source
  }

  whole(): Node {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw new RegexpSyntaxError('unexpected )', this.#source)
    return node
  }

  #peek(): string | undefined {
    return this.#source[this.#at]
  }

  #code(): number {
    const code = this.#source.codePointAt(this.#at) ?? 0
    this.#at += code > 0xffff ? 2 : 1
    return code
  }

  #choice(): Node {
    const nodes: Node[] = [this.#sequence()]
    while (this.#peek() === '|') {
      this.#at++
      nodes.push(this.#sequence())
    }
    return nodes.length === 1 ? nodes[0]! : { kind: 'choice', nodes }
  }

  #sequence(): Node {
    const nodes: Node[] = []
    for (;;) {
      const char = this.#peek()
      if (char === undefined || char === '|' || char === ')')
        return nodes.length === 1 ? nodes[0]! : { kind: 'sequence', nodes }
      const node = this.#repeated()
      if (node) nodes.push(node)
    }
  }

  /** Parses an atom with its repetition; returns undefined for flags (`(?i)`). */
  #repeated(): Node | undefined {
    const start = this.#at
    if (this.#bounds(start))
      throw new RegexpSyntaxError('missing argument to repetition operator', this.#source.slice(start, this.#at))
    this.#at = start
    const literal = this.#quoted()
    let node = literal ?? this.#one()
    if (!node) return undefined
    let before: number | undefined
    for (;;) {
      const operator = this.#at
      const bounds = this.#bounds(operator)
      if (!bounds) return node
      if (before !== undefined)
        throw new RegexpSyntaxError('invalid nested repetition operator', this.#source.slice(before, this.#at))
      before = operator
      if (bounds.max > maxRepeats && bounds.max !== Infinity)
        throw new RegexpSyntaxError('invalid repeat count', this.#source.slice(operator, this.#at))
      if (bounds.min > maxRepeats || bounds.min > bounds.max)
        throw new RegexpSyntaxError('invalid repeat count', this.#source.slice(operator, this.#at))
      node = this.#repeat(node, bounds)
      if (bounds.counted && repeats(node) > maxRepeats)
        throw new RegexpSyntaxError('invalid repeat count', this.#source.slice(operator, this.#at))
    }
  }

  #repeat(node: Node, { min, max, lazy }: Bounds): Node {
    // A repetition applies to the last character of a quoted text.
    if (node.kind === 'sequence' && this.#justQuoted) {
      const last = node.nodes.at(-1)
      if (last)
        return { kind: 'sequence', nodes: [...node.nodes.slice(0, -1), { kind: 'repeat', node: last, min, max, lazy }] }
    }
    return { kind: 'repeat', node, min, max, lazy }
  }

  #justQuoted = false

  /** `\Q…\E`. */
  #quoted(): Node | undefined {
    this.#justQuoted = false
    if (!this.#source.startsWith('\\Q', this.#at)) return undefined
    const from = this.#at + 2
    const end = this.#source.indexOf('\\E', from)
    const text = this.#source.slice(from, end < 0 ? undefined : end)
    this.#at = end < 0 ? this.#source.length : end + 2
    this.#justQuoted = true
    return { kind: 'sequence', nodes: [...text].map((char) => this.#char(char.codePointAt(0) ?? 0)) }
  }

  #bounds(at: number): Bounds | undefined {
    const char = this.#source[at]
    if (char === '*' || char === '+' || char === '?') {
      this.#at = at + 1
      return { min: char === '+' ? 1 : 0, max: char === '?' ? 1 : Infinity, counted: false, lazy: this.#lazy() }
    }
    if (char !== '{') return undefined
    let end = at + 1
    const number = (): number | undefined => {
      const from = end
      while (isDigit(this.#source[end])) end++
      const text = this.#source.slice(from, end)
      // Go accepts no leading zeros; an invalid repetition is literal text.
      return text === '' || (text.length > 1 && text.startsWith('0')) ? undefined : Number(text)
    }
    const min = number()
    if (min === undefined) return undefined
    let max = min
    if (this.#source[end] === ',') {
      end++
      if (this.#source[end] === '}') max = Infinity
      else {
        const given = number()
        if (given === undefined) return undefined
        max = given
      }
    }
    if (this.#source[end] !== '}') return undefined
    this.#at = end + 1
    return { min, max, counted: true, lazy: this.#lazy() }
  }

  /** Returns true if the repetition is lazy: `*?`, or `*` after `(?U)`. */
  #lazy(): boolean {
    if (this.#peek() !== '?') return this.#flags.ungreedy
    this.#at++
    return !this.#flags.ungreedy
  }

  #char(code: number): Node {
    return { kind: 'chars', chars: { ranges: [code, code], negated: false, fold: this.#flags.ignoreCase } }
  }

  #one(): Node | undefined {
    const char = this.#peek()
    switch (char) {
      case '(':
        return this.#group()
      case '[':
        return { kind: 'chars', chars: this.#class() }
      case '.':
        this.#at++
        return {
          kind: 'chars',
          chars: { ranges: this.#flags.dotAll ? [0, lastCode] : [0, 9, 11, lastCode], negated: false, fold: false },
        }
      case '^':
        this.#at++
        return { kind: 'assertion', assertion: this.#flags.multiLine ? 'line-start' : 'text-start' }
      case '$':
        this.#at++
        return { kind: 'assertion', assertion: this.#flags.multiLine ? 'line-end' : 'text-end' }
      case '\\':
        return this.#escape()
      default:
        return this.#char(this.#code())
    }
  }

  #group(): Node | undefined {
    const start = this.#at
    const outer = this.#flags
    this.#at++
    if (this.#peek() === '?') {
      this.#at++
      const named = /^P?<([^>]*)(>?)/.exec(this.#source.slice(this.#at))
      if (named) {
        const text = this.#source.slice(start, this.#at + named[0].length)
        if (!named[2] || !/^\w+$/.test(named[1] ?? ''))
          throw new RegexpSyntaxError('invalid named capture', named[2] ? text : this.#source.slice(start))
        if (this.#names.has(named[1] ?? '')) throw new RegexpSyntaxError('duplicate capture group name', named[1] ?? '')
        this.#names.add(named[1] ?? '')
        this.#at += named[0].length
      } else if (this.#setFlags(start)) return undefined
    }
    if (++this.#depth > maxDepth) throw new RegexpSyntaxError('expression nests too deeply', this.#source)
    const node = this.#choice()
    this.#depth--
    if (this.#peek() !== ')') throw new RegexpSyntaxError('missing closing )', this.#source)
    this.#at++
    this.#flags = outer
    return node
  }

  /** Parses `(?i)` (returns true) or `(?i:`. */
  #setFlags(start: number): boolean {
    let { ignoreCase, multiLine, dotAll, ungreedy } = this.#flags
    let on = true
    let some = false
    for (;;) {
      const char = this.#peek()
      this.#at++
      const bad = (): never => {
        throw new RegexpSyntaxError(
          char === undefined ? 'missing closing )' : 'invalid or unsupported Perl syntax',
          this.#source.slice(start, this.#at),
        )
      }
      if (char === 'i') ignoreCase = on
      else if (char === 'm') multiLine = on
      else if (char === 's') dotAll = on
      else if (char === 'U') ungreedy = on
      else if (char === '-') {
        if (!on) bad()
        on = false
        some = false
        continue
      } else if (char === ':' || char === ')') {
        if (!on && !some) bad()
        this.#flags = { ignoreCase, multiLine, dotAll, ungreedy }
        return char === ')'
      } else bad()
      some = true
    }
  }

  #escape(): Node {
    const start = this.#at
    const char = this.#source[this.#at + 1]
    switch (char) {
      case 'A':
        this.#at += 2
        return { kind: 'assertion', assertion: 'text-start' }
      case 'z':
        this.#at += 2
        return { kind: 'assertion', assertion: 'text-end' }
      case 'b':
        this.#at += 2
        return { kind: 'assertion', assertion: 'word-boundary' }
      case 'B':
        this.#at += 2
        return { kind: 'assertion', assertion: 'no-word-boundary' }
      default: {
        const chars = this.#classEscape()
        if (chars) return { kind: 'chars', chars }
        this.#at = start
        return this.#char(this.#escapedCode())
      }
    }
  }

  /** `\d`, `\pL`, `\p{Greek}`; undefined (and reads nothing) for anything else. */
  #classEscape(): CharClass | undefined {
    const char = this.#source[this.#at + 1]
    const perl = char === undefined ? undefined : perlClass(char)
    if (perl) {
      this.#at += 2
      return perl
    }
    if (char !== 'p' && char !== 'P') return undefined
    const match = /^\\[pP](?:\{(\^?)([^}]*)\}|(.))/su.exec(this.#source.slice(this.#at))
    if (!match) throw new RegexpSyntaxError('invalid character class range', this.#source.slice(this.#at))
    const chars = unicodeClass(
      match[2] ?? match[3] ?? '',
      (char === 'P') !== (match[1] === '^'),
      this.#flags.ignoreCase,
    )
    if (!chars) throw new RegexpSyntaxError('invalid character class range', match[0])
    this.#at += match[0].length
    return chars
  }

  #escapedCode(): number {
    const start = this.#at
    this.#at++
    if (this.#at >= this.#source.length) throw new RegexpSyntaxError('trailing backslash at end of expression', '')
    const code = this.#code()
    const char = String.fromCodePoint(code)
    const bad = (): never => {
      throw new RegexpSyntaxError('invalid escape sequence', this.#source.slice(start, this.#at))
    }
    if (char >= '1' && char <= '7') {
      // A single digit would be a backreference.
      const next = this.#peek()
      if (next === undefined || next < '0' || next > '7') bad()
    }
    if (char >= '0' && char <= '7') {
      const octal = /^[0-7]{1,3}/.exec(this.#source.slice(this.#at - 1))?.[0] ?? '0'
      this.#at += octal.length - 1
      return Number.parseInt(octal, 8)
    }
    if (char === 'x') {
      const hex = /^(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/.exec(this.#source.slice(this.#at))
      const value = Number.parseInt(hex?.[1] ?? hex?.[2] ?? '', 16)
      if (!hex || value > lastCode) return bad()
      this.#at += hex[0].length
      return value
    }
    const known = escaped[char]
    if (known !== undefined && Object.hasOwn(escaped, char)) return known
    return code < 128 && !/[0-9A-Za-z]/.test(char) ? code : bad()
  }

  /** `[…]`. */
  #class(): CharClass {
    const start = this.#at
    this.#at++
    const negated = this.#peek() === '^'
    if (negated) this.#at++
    const ranges: number[] = []
    const inner: CharClass[] = []
    const code = (): number => {
      if (this.#at >= this.#source.length) throw new RegexpSyntaxError('missing closing ]', this.#source.slice(start))
      return this.#peek() === '\\' ? this.#escapedCode() : this.#code()
    }
    for (let first = true; first || this.#peek() !== ']'; first = false) {
      if (this.#at >= this.#source.length) throw new RegexpSyntaxError('missing closing ]', this.#source.slice(start))
      const named = this.#source.startsWith('[:', this.#at)
        ? /^\[:(\^?)([^\]]*?):\]/.exec(this.#source.slice(this.#at))
        : null
      if (named) {
        const chars = asciiClass(named[2] ?? '', named[1] === '^', this.#flags.ignoreCase)
        if (!chars) throw new RegexpSyntaxError('invalid character class range', named[0])
        inner.push(chars)
        this.#at += named[0].length
        continue
      }
      const chars = this.#peek() === '\\' ? this.#classEscape() : undefined
      if (chars) {
        inner.push(chars)
        continue
      }
      const from = this.#at
      const low = code()
      let high = low
      if (this.#peek() === '-' && this.#at + 1 < this.#source.length && this.#source[this.#at + 1] !== ']') {
        this.#at++
        high = code()
        if (high < low) throw new RegexpSyntaxError('invalid character class range', this.#source.slice(from, this.#at))
      }
      ranges.push(low, high)
    }
    this.#at++
    return { ranges, negated, fold: this.#flags.ignoreCase, ...(inner.length > 0 && { inner }) }
  }
}

/** The product of nested counted repetitions. */
function repeats(node: Node): number {
  switch (node.kind) {
    case 'repeat': {
      const times = node.max === Infinity ? node.min : node.max
      return Math.max(times, 1) * repeats(node.node)
    }
    case 'sequence':
    case 'choice':
      return Math.max(1, ...node.nodes.map(repeats))
    default:
      return 1
  }
}
