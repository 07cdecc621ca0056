/** Parses CEL with the messages of cel-go's (ANTLR's) parser. Stops at the first fatal error. */
import type { Expr } from './ast.ts'
import { ExpressionParser } from './expression-parser.ts'
import type { Issue } from './issues.ts'
import { tokens } from './lexer.ts'
import { limits } from './limits.ts'
import type { Macros } from './macros.ts'
import { Fatal, TokenStream } from './token-stream.ts'

export type Parsed = { readonly expr: Expr } | { readonly issues: readonly Issue[] }

/** Parses `source` and expands macros. Returns the tree or the errors. */
export function parse(source: string, macros: Macros): Parsed {
  let size = 0
  for (const _ of source) size++
  if (size > limits.size)
    return {
      issues: [
        { message: `expression code point size exceeds limit: size: ${size}, limit ${limits.size}`, position: 0 },
      ],
    }
  const lexed = tokens(source)
  const issues = [...lexed.issues]
  const stream = new TokenStream(lexed.tokens, issues)
  try {
    const expr = new ExpressionParser(stream, macros).expression()
    stream.checkEnd()
    return issues.length > 0 ? { issues: sorted(issues) } : { expr }
  } catch (error) {
    if (!(error instanceof Fatal)) throw error
    return { issues: sorted(issues) }
  }
}

const sorted = (issues: Issue[]): Issue[] => issues.sort((a, b) => (a.position ?? -1) - (b.position ?? -1))
