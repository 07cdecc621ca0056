/** Declaration files as a graph: the top-level declarations of each module, and the names that they refer to. */
import { readFileSync } from 'node:fs'
import { type ParserOptions, parseSync, type Statement } from 'oxc-parser'

/** A name that another module exports: `default` and `*` (all of them) are names too. */
export interface Reference {
  readonly source: string
  readonly name: string
}

/** A top-level declaration: its text with its doc comment, and all names in it. */
export interface Declaration {
  readonly text: string
  readonly isExported: boolean
  readonly names: ReadonlySet<string>
  /** The exports of other modules in types such as `import('./a.js').A`. */
  readonly inline: readonly Reference[]
}

export interface Module {
  /** Overloads of a function, and interfaces that are merged, share a name. */
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>
  readonly imports: ReadonlyMap<string, Reference>
  /** Exports by name: a name of this module, or one of another module. */
  readonly exports: ReadonlyMap<string, string | Reference>
  /** Sources of `export *`. */
  readonly stars: readonly string[]
}

const options: ParserOptions = { lang: 'dts' }

/** Reads a declaration file. `edit` may replace the text of a declaration. */
export function readModule(file: string, edit = (text: string): string => text): Module {
  const text = readFileSync(file, 'utf8')
  const { program } = parseSync(file, text, options)
  const module = {
    declarations: new Map<string, Declaration[]>(),
    imports: new Map<string, Reference>(),
    exports: new Map<string, string | Reference>(),
    stars: [] as string[],
  }
  let end = 0
  for (const statement of program.body) {
    const source = edit(text.slice(end, statement.end))
    end = statement.end
    readImports(statement, module.imports)
    readExports(statement, module)
    for (const name of declaredNames(statement)) {
      const { names, inline } = referencesOf(statement)
      const isExported = statement.type === 'ExportNamedDeclaration'
      const declaration = { text: source.replace(/^\s*\n/, ''), isExported, names, inline }
      module.declarations.set(name, [...(module.declarations.get(name) ?? []), declaration])
    }
  }
  return module
}

function readImports(statement: Statement, imports: Map<string, Reference>): void {
  if (statement.type !== 'ImportDeclaration') return
  for (const specifier of statement.specifiers) {
    const name =
      specifier.type === 'ImportSpecifier'
        ? nameOf(specifier.imported)
        : specifier.type === 'ImportDefaultSpecifier'
          ? 'default'
          : '*'
    imports.set(specifier.local.name, { source: statement.source.value, name })
  }
}

function readExports(
  statement: Statement,
  { exports, stars }: { readonly exports: Map<string, string | Reference>; readonly stars: string[] },
): void {
  if (statement.type === 'ExportAllDeclaration') stars.push(statement.source.value)
  if (statement.type !== 'ExportNamedDeclaration') return
  for (const name of declaredNames(statement)) exports.set(name, name)
  for (const { local, exported } of statement.specifiers) {
    const name = nameOf(local)
    exports.set(nameOf(exported), statement.source ? { source: statement.source.value, name } : name)
  }
}

const nameOf = (name: { readonly name: string } | { readonly value: string }): string =>
  'name' in name ? name.name : name.value

function declaredNames(statement: Statement): string[] {
  const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  switch (declared?.type) {
    case 'VariableDeclaration':
      return declared.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
    case 'TSDeclareFunction':
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSEnumDeclaration':
      return declared.id ? [declared.id.name] : []
    default:
      return []
  }
}

/** Members whose key is a name of its own, and refers to nothing. */
const keyed = new Set(['TSPropertySignature', 'TSMethodSignature', 'PropertyDefinition', 'MethodDefinition'])

/** Collects all names in a part of the syntax tree: more than are references, which only retains more. */
function referencesOf(root: unknown): { readonly names: Set<string>; readonly inline: Reference[] } {
  const names = new Set<string>()
  const inline: Reference[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one)
    if (!isNode(node)) return
    if (node.type === 'Identifier' && typeof node.name === 'string') names.add(node.name)
    if (node.type === 'TSImportType') {
      const source = isNode(node.source) ? node.source.value : undefined
      const name = isNode(node.qualifier) ? node.qualifier.name : '*'
      if (typeof source === 'string' && typeof name === 'string') inline.push({ source, name })
    }
    for (const [key, value] of Object.entries(node)) {
      const isOwnName = key === 'key' && keyed.has(String(node.type)) && node.computed !== true
      if (!isOwnName) visit(value)
    }
  }
  visit(root)
  return { names, inline }
}

const isNode = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
