/**
 * The fields of the built-in kinds, found in the schema, that can hold large values: lists, maps, texts and free-form
 * JSON.
 */
import { allResources } from '../../../src/api/registry.ts'
import type { ResourceDefinition } from '../../../src/api/resource.ts'
import { schemaOf } from '../../../src/api/schema/index.ts'
import type { FieldType, StructType } from '../../../src/machinery/schema.ts'

/** The name of a field, or a step into the items of a list or the values of a map. */
export type Step = string | { readonly into: 'list' | 'map' }

export interface HeavyField {
  readonly definition: ResourceDefinition
  readonly path: readonly Step[]
  readonly type: FieldType
}

const intoList: Step = { into: 'list' }
const intoMap: Step = { into: 'map' }

/** `Pod spec.containers[].env`. */
export const fieldName = ({ definition: { group, kind }, path }: HeavyField): string =>
  `${kind}${group && `.${group}`} ` +
  `${path.map((step) => (typeof step === 'string' ? `.${step}` : step.into === 'list' ? '[]' : '{}')).join('')}`

/** The fields of all kinds. The fields of a structure that a kind uses several times are listed once per kind. */
export function heavyFields(): HeavyField[] {
  return allResources.filter((definition) => !definition.virtual).flatMap(fieldsOfKind)
}

function fieldsOfKind(definition: ResourceDefinition): HeavyField[] {
  const type = schemaOf(definition)
  if (!type) return []
  const found: HeavyField[] = []
  const seen = new Set<StructType>()
  // Breadth-first, so that a structure is found at its shortest path.
  let level: { readonly type: FieldType; readonly path: readonly Step[] }[] = [{ type, path: [] }]
  while (level.length > 0) {
    const next: typeof level = []
    for (const { type, path } of level) {
      if (type.kind === 'struct') {
        if (seen.has(type)) continue
        seen.add(type)
        for (const [name, field] of type.fields)
          if (path.length > 0 || (name !== 'kind' && name !== 'apiVersion'))
            next.push({ type: field.type, path: [...path, name] })
        continue
      }
      if (type.kind === 'boolean' || type.kind === 'integer' || type.kind === 'number') continue
      found.push({ definition, path, type })
      if (type.kind === 'array') next.push({ type: type.items, path: [...path, intoList] })
      if (type.kind === 'map') next.push({ type: type.values, path: [...path, intoMap] })
    }
    level = next
  }
  return found
}
