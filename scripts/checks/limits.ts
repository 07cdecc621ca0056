/**
 * Checks the size of TypeScript: lines of files, columns of lines, and lines of functions. Prints each excess with its
 * file and line; exits with 1 if there is any.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, type ParseResult, parseSync, Visitor } from 'oxc-parser'

/** Lines of a file, columns of a line, lines of a function. A function's lines include those of functions inside. */
const limits = { lines: 400, columns: 120, function: 60 } as const

interface Exception {
  readonly file: string
  readonly limit: keyof typeof limits
  readonly reason: string
}

const maxExceptions = 10
const exceptions: readonly Exception[] = []

/** The exports of `node:test` whose callbacks are stories: their length is not limited. */
const storytellers = new Set(['default', 'test', 'describe', 'it', 'suite'])

export interface Excess {
  readonly limit: keyof typeof limits
  readonly line: number
  readonly message: string
}

/** Returns the excesses of a file. */
export function excessesOf(path: string, text: string): Excess[] {
  const lines = text.replace(/\n$/, '').split('\n')
  const found: Excess[] = []
  if (lines.length > limits.lines)
    found.push({ limit: 'lines', line: 1, message: `${lines.length} lines, at most ${limits.lines}` })
  lines.forEach(({ length }, index) => {
    if (length > limits.columns)
      found.push({ limit: 'columns', line: index + 1, message: `${length} columns, at most ${limits.columns}` })
  })
  // Only files that are long enough can have a function that is too long.
  return lines.length > limits.function ? [...found, ...longFunctions(path, text)] : found
}

function longFunctions(path: string, text: string): Excess[] {
  const parsed = parseSync(path, text)
  const stories = storiesOf(parsed)
  const names = new Map<Node, string>()
  const found: Excess[] = []
  const nameOf = (key: Node): string => text.slice(key.start, key.end)
  const measure = (node: Node): void => {
    const length = text.slice(node.start, node.end).split('\n').length
    if (length <= limits.function || stories.has(node)) return
    const name = names.get(node) ?? 'a callback'
    const line = text.slice(0, node.start).split('\n').length
    found.push({ limit: 'function', line, message: `${name} has ${length} lines, at most ${limits.function}` })
  }
  new Visitor({
    VariableDeclarator: ({ id, init }) => init && names.set(init, nameOf(id)),
    Property: ({ key, value }) => names.set(value, nameOf(key)),
    MethodDefinition: ({ key, value }) => names.set(value, nameOf(key)),
    PropertyDefinition: ({ key, value }) => value && names.set(value, nameOf(key)),
    FunctionDeclaration(node) {
      if (node.id) names.set(node, node.id.name)
      measure(node)
    },
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(parsed.program)
  return found
}

/** Returns the callbacks of tests. */
function storiesOf({ program, module }: ParseResult): ReadonlySet<Node> {
  const imported = module.staticImports.filter(({ moduleRequest }) => moduleRequest.value === 'node:test')
  const local = new Set(
    imported.flatMap(({ entries }) =>
      entries
        .filter(({ importName }) => storytellers.has(importName.name ?? importName.kind.toLowerCase()))
        .map(({ localName }) => localName.value),
    ),
  )
  const stories = new Set<Node>()
  new Visitor({
    CallExpression({ callee, arguments: given }) {
      const last = given.at(-1)
      if (last && callee.type === 'Identifier' && local.has(callee.name)) stories.add(last)
    },
  }).visit(program)
  return stories
}

function main(): void {
  const root = join(import.meta.dirname, '../..')
  const unused = new Set(exceptions)
  const faults = globSync('{src,test,scripts,bench,examples}/**/*.{ts,mts}', { cwd: root })
    .sort()
    .flatMap((file) =>
      excessesOf(file, readFileSync(join(root, file), 'utf8')).flatMap(({ limit, line, message }) => {
        const exception = exceptions.find((one) => one.file === file && one.limit === limit)
        if (!exception) return `${file}:${line}: ${message}`
        unused.delete(exception)
        return []
      }),
    )
  const list = 'scripts/checks/limits.ts'
  for (const { file, limit } of unused) faults.push(`${list}: ${file} needs no exception for ${limit}: remove it`)
  if (exceptions.length > maxExceptions) faults.push(`${list}: has more than ${maxExceptions} exceptions`)
  for (const fault of faults) console.log(fault)
  if (faults.length > 0) process.exitCode = 1
}

if (import.meta.main) main()
