/**
 * Merges OpenAPI v2 documents: paths of the first win; different definitions of the same name are renamed.
 */
import { isDeepStrictEqual } from 'node:util'
import { own, setOwn } from '../../../lib/own.ts'

export interface OpenApiV2 {
  readonly paths?: Readonly<Record<string, unknown>>
  readonly definitions?: Readonly<Record<string, unknown>>
  /** Shared parameters, to which operations refer. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

const prefix = '#/definitions/'
const parameterPrefix = '#/parameters/'

/** Returns `document` with the paths of the others and the definitions they refer to. */
export function mergeV2(
  document: Readonly<Record<string, unknown>>,
  others: readonly OpenApiV2[],
): Record<string, unknown> {
  const paths: Record<string, unknown> = { ...(document.paths as OpenApiV2['paths']) }
  const definitions: Record<string, unknown> = { ...(document.definitions as OpenApiV2['definitions']) }
  for (const other of others) {
    const fresh = Object.entries(other.paths ?? {})
      .filter(([path]) => own(paths, path) === undefined)
      .map(([path, item]): [string, unknown] => [path, withParameters(item, other.parameters ?? {})])
    const used = closure(
      fresh.map(([, item]) => item),
      other.definitions ?? {},
    )
    const names = new Map<string, string>()
    for (const [name, definition] of used) names.set(name, freeName(name, definition, definitions))
    for (const [name, definition] of used) {
      const shown = names.get(name)!
      if (own(definitions, shown) === undefined) setOwn(definitions, shown, renamed(definition, names))
    }
    for (const [path, item] of fresh) setOwn(paths, path, renamed(item, names))
  }
  return { ...document, paths, definitions }
}

/** Inlines shared parameters, because two documents may have different ones of the same name. */
function withParameters(value: unknown, parameters: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((item) => withParameters(item, parameters))
  if (typeof value !== 'object' || value === null) return value
  const reference = (value as { readonly $ref?: unknown }).$ref
  if (typeof reference === 'string' && reference.startsWith(parameterPrefix))
    return own(parameters, reference.slice(parameterPrefix.length)) ?? value
  const result: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) setOwn(result, key, withParameters(member, parameters))
  return result
}

/** The first name that is free, or taken by a definition that is equal except for its kinds. */
function freeName(name: string, definition: unknown, taken: Readonly<Record<string, unknown>>): string {
  for (let i = 1; ; i++) {
    const candidate = i === 1 ? name : `${name}_v${i}`
    const present = own(taken, candidate)
    if (present === undefined || isDeepStrictEqual(withoutKinds(present), withoutKinds(definition))) return candidate
  }
}

function withoutKinds(definition: unknown): unknown {
  if (typeof definition !== 'object' || definition === null) return definition
  const { 'x-kubernetes-group-version-kind': _, ...rest } = definition as Record<string, unknown>
  return rest
}

/** The definitions that values refer to, directly or indirectly. */
function closure(values: readonly unknown[], definitions: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const waiting: unknown[] = [...values]
  while (waiting.length) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    const reference = (value as { readonly $ref?: unknown }).$ref
    if (typeof reference === 'string' && reference.startsWith(prefix)) {
      const name = reference.slice(prefix.length)
      const definition = own(definitions, name)
      if (definition !== undefined && !found.has(name)) {
        found.set(name, definition)
        waiting.push(definition)
      }
    }
    waiting.push(...Object.values(value))
  }
  return found
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if ([...names].every(([from, to]) => from === to)) return value
  return mapReferences(value, (name) => names.get(name) ?? name)
}

function mapReferences(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => mapReferences(item, rename))
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const isReference = key === '$ref' && typeof member === 'string' && member.startsWith(prefix)
    setOwn(result, key, isReference ? prefix + rename(member.slice(prefix.length)) : mapReferences(member, rename))
  }
  return result
}
