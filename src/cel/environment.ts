/**
 * Where expressions are compiled: the variables, functions, macros and types that they know. Environments never change.
 */
import { check } from './checker/check.ts'
import { type Declaration, type Declarations, withFunctions } from './checker/declarations.ts'
import { literalIssues } from './checker/literals.ts'
import type { Library, Macro } from './library.ts'
import { type Program, program } from './program.ts'
import { standardLibrary } from './standard/index.ts'
import { formatIssues, type Issue } from './syntax/issues.ts'
import { macroKey, parse } from './syntax/parser.ts'
import { type ObjectType, runtimeTypeName, type Type, typeType } from './types.ts'
import { TypeValue } from './values.ts'

export interface EnvironmentOptions {
  readonly libraries?: readonly Library[]
  /** Variables and their types. */
  readonly variables?: Readonly<Record<string, Type>>
  /** Objects that expressions can make by name: `Object{…}`. */
  readonly types?: readonly ObjectType[]
  /** Objects that expressions can make by names that nobody can list: asked for what `types` has not. */
  readonly typeNamed?: (name: string) => ObjectType | undefined
  /**
   * Where the sizes stand that estimates of costs go by, whatever a variable is; without it, those of each variable's
   * type count.
   */
  readonly sizes?: Type
}

export type Compiled =
  | { readonly program: Program }
  /** `errors` as cel-go shows them, with lines and pointers; `issues` are what they were made of. */
  | { readonly errors: string; readonly issues: readonly Issue[] }

export interface Environment {
  /** Parses and checks an expression. What is wrong is told, never thrown. */
  compile(source: string): Compiled
  /** The same and more; it shares what this one has. */
  extend(options: EnvironmentOptions): Environment
}

interface Known extends Declarations {
  readonly macros: ReadonlyMap<string, Macro>
  readonly sizes?: Type
  readonly typeNamed?: (name: string) => ObjectType | undefined
}

/** Known types, and those that are made up when they are asked for. */
class OpenTypes extends Map<string, ObjectType> {
  readonly #typeNamed: (name: string) => ObjectType | undefined

  constructor(known: ReadonlyMap<string, ObjectType>, typeNamed: (name: string) => ObjectType | undefined) {
    super(known)
    this.#typeNamed = typeNamed
  }
  override get(name: string): ObjectType | undefined {
    return super.get(name) ?? this.#typeNamed(name)
  }
}

const nothing: Known = { names: new Map(), functions: new Map(), objects: new Map(), macros: new Map() }

/** An environment with the standard library and these. */
export const environment = (options: EnvironmentOptions = {}): Environment =>
  (standard ??= extended(nothing, { libraries: [standardLibrary] })).extend(options)

let standard: Environment | undefined

function extended(base: Known, options: EnvironmentOptions): Environment {
  const known = merge(base, options)
  return { compile: (source) => compileIn(known, source), extend: (more) => extended(known, more) }
}

function merge(
  base: Known,
  { libraries = [], variables = {}, types = [], sizes = base.sizes, typeNamed = base.typeNamed }: EnvironmentOptions,
): Known {
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
    objects: typeNamed ? new OpenTypes(objects, typeNamed) : objects,
    typeNamed,
    macros:
      macros.length > 0
        ? new Map([...base.macros, ...macros.map((macro) => [macroKey(macro), macro] as const)])
        : base.macros,
    sizes,
  }
}

const typeName = (type: Type): Declaration => ({ type: typeType(type), value: new TypeValue(type) })

function compileIn(known: Known, source: string): Compiled {
  const failed = (issues: readonly Issue[]): Compiled => ({ errors: formatIssues(source, issues), issues })
  const parsed = parse(source, known.macros)
  if ('issues' in parsed) return failed(parsed.issues)
  const checked = check(parsed.expr, known)
  if ('issues' in checked) return failed(checked.issues)
  const issues = literalIssues(checked, parsed.expr)
  return issues.length > 0 ? failed(issues) : { program: program(source, parsed.expr, checked, known.sizes) }
}
