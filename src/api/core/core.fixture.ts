/** Objects of the core group for tests, and what the definitions of their kinds make of them. */
import type { KubeObject } from '../../machinery/object.ts'
import { compileDefaults } from '../defaults.ts'
import type { Cell, ResourceDefinition } from '../resource.ts'
import { resources } from './index.ts'

export const kind = (plural: string): ResourceDefinition =>
  resources.find((one) => one.plural === plural) as ResourceDefinition
export const objectOf = (plural: string, rest: object = {}, metadata: object = {}): KubeObject => {
  const { kind: name } = kind(plural)
  return structuredClone({ apiVersion: 'v1', kind: name, metadata: { name: 'x', ...metadata }, ...rest }) as KubeObject
}
/** Returns the object after defaults and preparation. */
export const prepared = (
  plural: string,
  rest: object = {},
  metadata: object = {},
): KubeObject & Record<string, unknown> => {
  const { defaults, prepare } = kind(plural)
  const object = objectOf(plural, rest, metadata)
  compileDefaults(defaults ?? [])(object)
  prepare?.create?.(object, { name: 'me', groups: [] })
  return object as KubeObject & Record<string, unknown>
}
const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
export const validationErrors = (plural: string, rest: object, metadata?: object): string[] =>
  errorMessages(kind(plural).validate?.object?.(prepared(plural, rest, metadata)))
export const updateErrors = (plural: string, now: object, before: object): string[] =>
  errorMessages(kind(plural).validate?.update?.(prepared(plural, now), prepared(plural, before)))
export const cells = (plural: string, rest: object, metadata?: object): Cell[] =>
  (kind(plural).columns ?? []).map((column) => column.cell(objectOf(plural, rest, metadata)))
