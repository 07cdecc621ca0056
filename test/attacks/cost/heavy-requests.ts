/** Requests with one heavy field each: create, PUT, all patches and apply. */

import type { ResourceDefinition } from '../../../src/api/resource.ts'
import { collectionPath } from '../../fuzz/requests.ts'
import { samples } from '../../fuzz/samples.ts'
import type { HeavyField, Step } from './heavy-fields.ts'
import type { HeavyShape } from './heavy-values.ts'

export interface HeavyRequest {
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly body?: string
}

export const ways = ['create', 'put', 'merge', 'strategic', 'json', 'apply'] as const
export type Way = (typeof ways)[number]

type Plain = Record<string, unknown>

const groupVersionOf = ({ group, version }: ResourceDefinition): string => (group ? `${group}/${version}` : version)
export const heavyPath = (definition: ResourceDefinition): string => collectionPath(definition, 'default')

/** An object of the kind, valid or nearly valid if there is a sample of the kind. */
export function lightObject(definition: ResourceDefinition, name: string): Plain & { metadata: Plain } {
  const { kind } = definition
  const apiVersion = groupVersionOf(definition)
  const sample =
    samples.find((other) => other.kind === kind && other.apiVersion === apiVersion) ??
    samples.find((other) => other.kind === kind)
  return { ...structuredClone(sample), apiVersion, kind, metadata: { ...(sample?.metadata as Plain), name } }
}

const placeholder = '@heavy@'

/** Puts the placeholder at the path, creating missing parents. */
function fill(at: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return placeholder
  if (typeof step === 'object' && step.into === 'list')
    return [fill(Array.isArray(at) ? at[0] : undefined, rest), ...(Array.isArray(at) ? at.slice(1) : [])]
  const object = typeof at === 'object' && at !== null && !Array.isArray(at) ? (at as Plain) : {}
  const name = typeof step === 'string' ? step : (Object.keys(object)[0] ?? 'a')
  return { ...object, [name]: fill(object[name], rest) }
}

const pointer = (path: readonly Step[]): string =>
  path.map((step) => `/${typeof step === 'string' ? step : step.into === 'list' ? 0 : 'a'}`).join('')

const heavy = (value: unknown, text: string): string =>
  JSON.stringify(value).replace(JSON.stringify(placeholder), () => text)

/** A request that fills the field with a value of the shape. All ways but `create` change the object `name`. */
export function heavyRequest(
  { definition, path }: HeavyField,
  shape: HeavyShape,
  way: Way,
  name: string,
  bytes: number,
): HeavyRequest {
  const collection = heavyPath(definition)
  const item = `${collection}/${name}`
  const text = shape.text(bytes)
  const whole = (): string => heavy(fill(lightObject(definition, name), path), text)
  const part = (): string => heavy(fill({}, path), text)
  switch (way) {
    case 'create':
      return { method: 'POST', path: collection, contentType: 'application/json', body: whole() }
    case 'put':
      return { method: 'PUT', path: item, contentType: 'application/json', body: whole() }
    case 'merge':
      return { method: 'PATCH', path: item, contentType: 'application/merge-patch+json', body: part() }
    case 'strategic':
      return { method: 'PATCH', path: item, contentType: 'application/strategic-merge-patch+json', body: part() }
    case 'json':
      return {
        method: 'PATCH',
        path: item,
        contentType: 'application/json-patch+json',
        body: heavy([{ op: 'add', path: pointer(path), value: placeholder }], text),
      }
    case 'apply':
      return {
        method: 'PATCH',
        path: `${item}?fieldManager=heavy&force=true`,
        contentType: 'application/apply-patch+yaml',
        body: whole(),
      }
  }
}
