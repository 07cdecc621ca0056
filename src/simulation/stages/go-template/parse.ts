/** Parses templates of Go's text/template: text, and actions in `{{ }}`. */

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with'
      readonly pipe: Pipe
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
    }
  | { readonly kind: 'range'; readonly pipe: Pipe; readonly body: readonly Node[]; readonly otherwise: readonly Node[] }
  | { readonly kind: 'template'; readonly name: string; readonly pipe: Pipe | undefined }
  | { readonly kind: 'break' | 'continue' }

/** Commands whose results are passed to the next, and the variables for the last result. */
export interface Pipe {
  readonly variables: readonly string[]
  /** True if the variables are declared (`:=`). */
  readonly declares: boolean
  readonly commands: readonly (readonly Operand[])[]
}

export type Operand =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `.a.b`, `$x.a`, `(…).a`. */
  | { readonly kind: 'path'; readonly from: 'dot' | string | Pipe; readonly names: readonly string[] }
  | { readonly kind: 'function'; readonly name: string }

export interface Template {
  readonly body: readonly Node[]
  readonly defined: ReadonlyMap<string, readonly Node[]>
}

interface Piece {
  readonly isAction: boolean
  readonly text: string
}

/** Throws an Error with the reason. */
export function parseTemplate(text: string): Template {
  const defined = new Map<string, readonly Node[]>()
  const reader = new BodyReader(pieces(text), defined)
  return { body: reader.body().nodes, defined }
}

function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let at = 0
  let trimNext = false
  const push = (plain: string): void => {
    const trimmed = trimNext ? plain.trimStart() : plain
    if (trimmed) found.push({ isAction: false, text: trimmed })
  }
  for (;;) {
    const start = text.indexOf('{{', at)
    if (start < 0) break
    const end = endOfAction(text, start + 2)
    const plain = text.slice(at, start)
    let action = text.slice(start + 2, end)
    const trimsBefore = /^-\s/.test(action)
    push(trimsBefore ? plain.trimEnd() : plain)
    trimNext = /\s-$/.test(action)
    action = action.slice(trimsBefore ? 1 : 0, trimNext ? -1 : undefined).trim()
    if (!action.startsWith('/*')) found.push({ isAction: true, text: action })
    at = end + 2
  }
  push(text.slice(at))
  return found
}

/** Skips braces in strings. */
function endOfAction(text: string, from: number): number {
  const inside = /"(?:[^"\\]|\\.)*"|`[^`]*`|\}\}/g
  inside.lastIndex = from
  for (let match = inside.exec(text); match; match = inside.exec(text)) if (match[0] === '}}') return match.index
  throw new Error('an action {{ is not closed')
}

class BodyReader {
  readonly #pieces: readonly Piece[]
  readonly #defined: Map<string, readonly Node[]>
  #at = 0

  constructor(found: readonly Piece[], defined: Map<string, readonly Node[]>) {
    this.#pieces = found
    this.#defined = defined
  }

  /** Parses up to `end`, `else`, or the end of the template. */
  body(): { readonly nodes: readonly Node[]; readonly end: string } {
    const nodes: Node[] = []
    for (;;) {
      const piece = this.#pieces[this.#at++]
      if (!piece) return { nodes, end: '' }
      if (!piece.isAction) {
        nodes.push({ kind: 'text', text: piece.text })
        continue
      }
      const [, word = '', rest = ''] = /^(\w+)(?:\s+([\s\S]*))?$/.exec(piece.text) ?? []
      if (word === 'end' || word === 'else') return { nodes, end: piece.text }
      const node = this.#action(piece.text, word, rest)
      if (node) nodes.push(node)
    }
  }

  #action(text: string, word: string, rest: string): Node | undefined {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        return this.#block(word, rest)
      case 'define': {
        this.#defined.set(JSON.parse(rest) as string, this.body().nodes)
        return undefined
      }
      case 'template': {
        const [, name = '""', argument = ''] = /^("(?:[^"\\]|\\.)*")\s*([\s\S]*)$/.exec(rest) ?? []
        return { kind: 'template', name: JSON.parse(name) as string, pipe: argument ? parsePipe(argument) : undefined }
      }
      case 'break':
      case 'continue':
        return { kind: word }
      default:
        return { kind: 'output', pipe: parsePipe(text) }
    }
  }

  #block(kind: 'if' | 'with' | 'range', condition: string): Node {
    const pipe = parsePipe(condition)
    const { nodes, end } = this.body()
    return { kind, pipe, body: nodes, otherwise: this.#otherwise(end) }
  }

  #otherwise(end: string): readonly Node[] {
    if (end === 'end') return []
    const [, word, condition] = /^else(?:\s+(if|with)\s+([\s\S]+))?$/.exec(end) ?? []
    if (end === '') throw new Error('a block is not closed by {{ end }}')
    if (word && condition) return [this.#block(word as 'if' | 'with', condition)]
    const { nodes, end: last } = this.body()
    if (last !== 'end') throw new Error('a block is not closed by {{ end }}')
    return nodes
  }
}

const tokenPattern =
  /\s*(?:("(?:[^"\\]|\\.)*"|`[^`]*`)|(:=|=|\||,|\(|\)|(?:\.[\w-]+)+|\.|\$\w*(?:\.[\w-]+)*|[-+]?\d+(?:\.\d+)?|\w+))/y

/** Throws an Error that shows the position. */
export function parsePipe(text: string): Pipe {
  const tokens: string[] = []
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < text.trimEnd().length) {
    const from = tokenPattern.lastIndex
    const match = tokenPattern.exec(text)
    if (!match) throw new Error(`unexpected ${JSON.stringify(text.slice(from, from + 20))} in {{ ${text} }}`)
    tokens.push(match[1] ?? match[2] ?? '')
  }
  const reader = new PipeReader(tokens, text)
  const pipe = reader.pipe()
  if (reader.hasMore) throw new Error(`unexpected ${reader.next} in {{ ${text} }}`)
  return pipe
}

class PipeReader {
  readonly #tokens: readonly string[]
  readonly #text: string
  #at = 0

  constructor(tokens: readonly string[], text: string) {
    this.#tokens = tokens
    this.#text = text
  }

  get next(): string | undefined {
    return this.#tokens[this.#at]
  }

  get hasMore(): boolean {
    return this.#at < this.#tokens.length
  }

  pipe(): Pipe {
    const { variables, declares } = this.#variables()
    const commands: Operand[][] = []
    do commands.push(this.#command())
    while (this.#take('|'))
    return { variables, declares, commands }
  }

  #take(token: string): boolean {
    if (this.next !== token) return false
    this.#at++
    return true
  }

  #variables(): Pick<Pipe, 'variables' | 'declares'> {
    const [first = '', second, third = '', fourth] = this.#tokens.slice(this.#at)
    if (!/^\$\w+$/.test(first)) return { variables: [], declares: false }
    const variables = second === ',' ? [first, third] : [first]
    const sign = second === ',' ? fourth : second
    if (sign !== ':=' && sign !== '=') return { variables: [], declares: false }
    this.#at += variables.length * 2
    return { variables, declares: sign === ':=' }
  }

  #command(): Operand[] {
    const operands: Operand[] = []
    while (this.hasMore && this.next !== '|' && this.next !== ')') operands.push(this.#operand())
    if (operands.length === 0) throw new Error(`something is missing in {{ ${this.#text} }}`)
    return operands
  }

  #operand(): Operand {
    const token = this.#tokens[this.#at++]!
    if (token === '(') {
      const pipe = this.pipe()
      if (!this.#take(')')) throw new Error(`a parenthesis is not closed in {{ ${this.#text} }}`)
      const names = this.next && /^\.[\w-]/.test(this.next) ? namesOf(this.#tokens[this.#at++]!) : []
      return { kind: 'path', from: pipe, names }
    }
    if (token.startsWith('"')) return { kind: 'value', value: JSON.parse(token) }
    if (token.startsWith('`')) return { kind: 'value', value: token.slice(1, -1) }
    if (/^[-+]?\d/.test(token)) return { kind: 'value', value: Number(token) }
    if (token.startsWith('.')) return { kind: 'path', from: 'dot', names: token === '.' ? [] : namesOf(token) }
    if (token.startsWith('$')) {
      const [variable = '$', ...names] = token.split('.')
      return { kind: 'path', from: variable, names }
    }
    if (token === 'true' || token === 'false') return { kind: 'value', value: token === 'true' }
    if (token === 'nil') return { kind: 'value', value: undefined }
    return { kind: 'function', name: token }
  }
}

const namesOf = (path: string): string[] => path.slice(1).split('.')
