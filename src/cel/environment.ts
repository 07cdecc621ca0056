/** An environment compiles expressions with its variables, functions, macros and types. Environments are immutable. */
import { check } from './checker/check.ts'
import { type Declaration, type Declarations, withFunctions } from './checker/declarations.ts'
import { literalIssues } from './checker/literals.ts'
import type { Library, Macro } from './library.ts'
import { type Program, program } from './program.ts'
import { standardLibrary } from './standard/index.ts'
import { formatIssues, type Issue } from './syntax/issues.ts'
import { macroKey } from './syntax/macros.ts'
import { parse } from './syntax/parser.ts'
import { type ObjectType, runtimeTypeName, type Type, typeType } from './types.ts'
import { TypeValue } from './values.ts'

export interface EnvironmentOptions {
  readonly libraries?: readonly Library[]
  /** Variables and their types. */
  readonly variables?: Readonly<Record<string, Type>>
  /** Object types that expressions can construct: `Object{…}`. */
  readonly types?: readonly ObjectType[]
  /**
   * Returns further object types by name, for names that cannot be listed. Called for names that are not in `types`.
   */
  readonly resolveType?: (name: string) => ObjectType | undefined
  /**
   * The type whose declared sizes cost estimates use for all variables. Default: the sizes in each variable's type.
   */
  readonly sizes?: Type
}

export type Compiled =
  | { readonly program: Program }
  /** `errors` is cel-go's text with lines and pointers, formatted from `issues`. */
  | { readonly errors: string; readonly issues: readonly Issue[] }

export interface Environment {
  /** Parses and checks an expression. Returns errors, and never throws them. */
  compile(source: string): Compiled
  /** Returns an environment with additional declarations. It shares those of this one. */
  extend(options: EnvironmentOptions): Environment
}

interface Definitions extends Declarations {
  readonly macros: ReadonlyMap<string, Macro>
  readonly sizes?: Type
  readonly resolveType?: (name: string) => ObjectType | undefined
}

/** The listed types, and those that `resolveType` returns. */
class OpenTypes extends Map<string, ObjectType> {
  readonly #resolveType: (name: string) => ObjectType | undefined

  constructor(definitions: ReadonlyMap<string, ObjectType>, resolveType: (name: string) => ObjectType | undefined) {
    super(definitions)
    this.#resolveType = resolveType
  }
  override get(name: string): ObjectType | undefined {
    return super.get(name) ?? this.#resolveType(name)
  }
}

const noDefinitions: Definitions = { names: new Map(), functions: new Map(), objects: new Map(), macros: new Map() }

/** Creates an environment with the standard library and the options. */
export const environment = (options: EnvironmentOptions = {}): Environment =>
  (standard ??= createEnvironment(noDefinitions, { libraries: [standardLibrary] })).extend(options)

let standard: Environment | undefined

function createEnvironment(base: Definitions, options: EnvironmentOptions): Environment {
  const definitions = merge(base, options)
  return { compile: (source) => compileIn(definitions, source), extend: (more) => createEnvironment(definitions, more) }
}

function merge(
  base: Definitions,
  {
    libraries = [],
    variables = {},
    types = [],
    sizes = base.sizes,
    resolveType = base.resolveType,
  }: EnvironmentOptions,
): Definitions {
  const functions = libraries.flatMap((library) => library.functions ?? [])
  const macros = libraries.flatMap((library) => library.macros ?? [])
  const names = new Map<string, Declaration>(base.names)
  for (const library of libraries) {
    for (const type of library.types ?? []) names.set(runtimeTypeName(type), typeName(type))
    for (const { name, type, value } of library.constants ?? []) names.set(name, { type, value })
  }
  for (const type of types) names.set(type.name, typeName(type))
  for (const [name, type] of Object.entries(variables)) names.set(name, { type })
  const objects =
    types.length > 0 ? new Map([...base.objects, ...types.map((type) => [type.name, type] as const)]) : base.objects
  return {
    names,
    functions: functions.length > 0 ? withFunctions(base.functions, functions) : base.functions,
    objects: resolveType ? new OpenTypes(objects, resolveType) : objects,
    resolveType,
    macros:
      macros.length > 0
        ? new Map([...base.macros, ...macros.map((macro) => [macroKey(macro), macro] as const)])
        : base.macros,
    sizes,
  }
}

const typeName = (type: Type): Declaration => ({ type: typeType(type), value: new TypeValue(type) })

function compileIn(definitions: Definitions, source: string): Compiled {
  const failed = (issues: readonly Issue[]): Compiled => ({ errors: formatIssues(source, issues), issues })
  const parsed = parse(source, definitions.macros)
  if ('issues' in parsed) return failed(parsed.issues)
  const checked = check(parsed.expr, definitions)
  if ('issues' in checked) return failed(checked.issues)
  const issues = literalIssues(checked, parsed.expr)
  return issues.length > 0 ? failed(issues) : { program: program(source, parsed.expr, checked, definitions.sizes) }
}
