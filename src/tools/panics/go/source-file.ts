/** A Go source file: its functions and literals with their lines, and its types. */
import { GoParser, Unexpected } from './parser.ts'
import { type Token, tokensOf } from './tokens.ts'
import type { GoType, Signature } from './types.ts'

export interface SourceFunction {
  readonly signature: Signature
  readonly isLiteral: boolean
  /** Lines of `func` and of the closing brace, from 1. */
  readonly firstLine: number
  lastLine: number
}

export interface SourceFile {
  /** Ordered by their first line. */
  readonly functions: readonly SourceFunction[]
  readonly types: ReadonlyMap<string, GoType>
}

/** Skips what it cannot parse. */
export function parseSourceFile(source: string): SourceFile {
  const tokens = tokensOf(source)
  const functions: SourceFunction[] = []
  const types = new Map<string, GoType>()
  const open: { readonly depth: number; readonly function: SourceFunction }[] = []
  let depth = 0
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text, line } = tokens[at]!
    if (kind === 'text') continue
    if (text === '{') depth++
    else if (text === '}') {
      depth--
      if (open.at(-1)?.depth === depth) open.pop()!.function.lastLine = line
    } else if (text === 'func') {
      const parser = new GoParser(tokens, at + 1)
      const signature = attempt(() => parser.signature())
      if (!signature || !parser.is('{')) continue
      const found: SourceFunction = {
        signature,
        isLiteral: signature.name === '',
        firstLine: line,
        lastLine: tokens.at(-1)?.line ?? line,
      }
      functions.push(found)
      open.push({ depth, function: found })
      // Braces in a signature do not begin a body.
      at = parser.at - 1
    } else if (text === 'type' && depth === 0) declare(tokens, at + 1, types)
  }
  return { functions, types }
}

/** Parses `type T …` and `type ( … )`. */
function declare(tokens: readonly Token[], at: number, types: Map<string, GoType>): void {
  const parser = new GoParser(tokens, at)
  const isList = parser.is('(')
  if (isList) parser.at++
  do {
    const name = parser.peek()
    if (name?.kind !== 'name') return
    parser.at++
    // A generic type: its fields may have any type.
    const isGeneric = parser.is('[') && parser.peek(1)?.kind === 'name' && parser.peek(2)?.text !== ']'
    if (isGeneric) return
    if (parser.is('=')) parser.at++
    const type = attempt(() => parser.type())
    if (!type) return
    types.set(name.text, type)
    if (parser.is(';')) parser.at++
  } while (isList && !parser.is(')'))
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Unexpected) return undefined
    throw error
  }
}
