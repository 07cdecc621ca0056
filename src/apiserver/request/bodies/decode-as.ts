/**
 * Decodes a parsed value as an object of a resource: by Kubernetes' own schema, or by that of a
 * CustomResourceDefinition.
 */
import { schemaType } from '../../../api/schema/index.ts'
import { type Decoded, DecodeError, type DecodeOptions, decode } from '../../../machinery/decode/index.ts'
import type { Field, FieldType, StructType } from '../../../machinery/schema.ts'
import type { ServedResource } from '../../registry/served-resource.ts'

/**
 * Throws DecodeError, also for an invalid embedded object. Fields that are not in the resource's schema are dropped.
 */
export function decodeAs(resource: ServedResource, value: unknown, options: DecodeOptions = {}): Decoded {
  const { custom } = resource.definition
  if (!custom) return decode(resource.type, value, options)
  const decoded = decode(customObject(), value, options)
  const unknown = custom.prune(decoded.object)
  const unreadable = custom.decodeError(decoded.object)
  if (unreadable) throw new DecodeError(`${unreadable.field}: ${unreadable.message}`)
  if (unknown.length === 0) return decoded
  return {
    ...decoded,
    unknown: [...decoded.unknown, ...unknown],
    strict: [...decoded.strict, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)],
  }
}

const field = (type: FieldType): Field => ({ type, keepsEmpty: false })

let anyCustomObject: StructType | undefined

/** All custom objects have kind, version and metadata; the rest is checked when it is pruned and validated. */
const customObject = (): StructType =>
  (anyCustomObject ??= {
    kind: 'struct',
    definition: '',
    goName: '',
    fields: new Map([
      ['kind', field({ kind: 'string' })],
      ['apiVersion', field({ kind: 'string' })],
      ['metadata', field(schemaType('V1ObjectMeta'))],
    ]),
    others: { kind: 'any', deduced: true },
    required: new Set(),
    atomic: false,
    groupVersionKinds: [],
  })
