/**
 * Compares the output of a command with the documented one. Parts that differ in each run may differ; a name that the
 * machine invents (a hardware address, `veth…`, a UID) may be another one, but must then be that one on the whole page.
 */

/** Parts that may differ freely. Longer ones come first. */
const free = [
  String.raw`(?:\d+\.\d+/)+\d+\.\d+ ms`,
  String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?`,
  String.raw`\b\d\d:\d\d:\d\d(?:\.\d+)?\b(?!:)`,
  String.raw`\b\d+m\d+s\b`,
  String.raw`\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns|s)\b`,
  String.raw`@if\d+`,
  String.raw`^\d+: `,
]

/** Names that stand for one thing on the whole page. */
const names = [
  String.raw`\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b`,
  String.raw`\bfe80::[0-9a-f:]+`,
  String.raw`\bveth[0-9a-f]{6,}\b`,
  String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`,
]

/** Addresses that mean the same everywhere: all hosts, no host. */
const fixedNames = ['ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00']

export class OutputMatcher {
  /** Names of the page by those of this run, and the other way round. */
  #documented = new Map<string, string>()
  #printed = new Map<string, string>()
  /** Text in which names are literal: the commands. */
  readonly #literal: string
  readonly #varies: readonly string[]

  constructor(commands: readonly string[], varies: readonly string[] = []) {
    this.#literal = [...commands, ...fixedNames].join('\n')
    this.#varies = varies
  }

  /** Returns true if the output matches. `…` stands for anything, on a line of its own for any number of lines. */
  matches(documented: readonly string[], printed: readonly string[]): boolean {
    return this.#linesMatch(normal(documented), normal(printed))
  }

  #linesMatch(documented: readonly string[], printed: readonly string[]): boolean {
    const [first, ...rest] = documented
    if (first === undefined) return printed.length === 0
    const before = [this.#documented, this.#printed] as const
    for (const skipped of first === '…' ? printed.keys() : []) {
      if (this.#linesMatch(rest, printed.slice(skipped))) return true
      ;[this.#documented, this.#printed] = before
    }
    if (first === '…') return rest.length === 0
    const [line, ...others] = printed
    return line !== undefined && this.#lineMatches(first, line) && this.#linesMatch(rest, others)
  }

  #lineMatches(documented: string, line: string): boolean {
    const { pattern, found } = this.#patternOf(documented)
    const values = pattern.exec(line)?.slice(1)
    return values !== undefined && found.every((name, index) => this.#isSame(name, values[index]!))
  }

  /** The pattern of a line has a group for each name in it. */
  #patternOf(documented: string): { readonly pattern: RegExp; readonly found: readonly string[] } {
    const found: string[] = []
    const sources = [...this.#varies, ...free, ...names]
    const variable = new RegExp(sources.map((source) => `(${source.replaceAll(/\((?!\?)/g, '(?:')})`).join('|'), 'g')
    let pattern = ''
    let at = 0
    for (const match of documented.matchAll(variable)) {
      const index = match.slice(1).findIndex((group) => group !== undefined)
      const isName = index >= sources.length - names.length
      const isLiteral = isName && this.#literal.includes(match[0])
      if (isName && !isLiteral) found.push(match[0])
      const part = isName ? `(${sources[index]})` : `(?:${sources[index]})`
      pattern += literal(documented.slice(at, match.index)) + (isLiteral ? literal(match[0]) : part)
      at = match.index + match[0].length
    }
    return { pattern: new RegExp(`^${pattern}${literal(documented.slice(at))}$`), found }
  }

  #isSame(documented: string, printed: string): boolean {
    if (this.#literal.includes(printed)) return false
    const [known, other] = [this.#documented.get(documented), this.#printed.get(printed)]
    if (known === undefined && other === undefined) {
      this.#documented = new Map(this.#documented).set(documented, printed)
      this.#printed = new Map(this.#printed).set(printed, documented)
      return true
    }
    return known === printed && other === documented
  }
}

const literal = (text: string): string =>
  text
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')

/** The width of columns, indents and empty lines may differ. */
const normal = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()).filter((line) => line !== '')
