/** The schemas of all kinds, generated from the official client's models and `facts.json`. */
import type { StructType } from '../../machinery/schema.ts'
import type { ResourceDefinition } from '../resource.ts'
import { definitionName } from './group-versions.ts'
import { modelOfDefinition, modelType } from './loader.ts'

export { definitionName } from './group-versions.ts'
export { descriptionsOf, modelOfDefinition } from './loader.ts'
export { numberedFields } from './protobuf.ts'

type Kind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'model'>

/** Returns the schema of a kind, by its `model` or else by group, version and kind. Undefined for custom resources. */
export function schemaOf({ group, version, kind, model }: Kind): StructType | undefined {
  const name = model ?? modelOfDefinition(definitionName(group, version, kind))
  return name === undefined ? undefined : modelType(name)
}

/** Returns the schema of a model of the client (`V1Pod`, `CoreV1Event`) or of a kind. Throws if it has none. */
export function schemaType(of: string | Kind): StructType {
  if (typeof of === 'string') return modelType(of)
  const type = schemaOf(of)
  if (!type) throw new Error(`no schema for kind ${of.kind} of ${of.group}/${of.version}`)
  return type
}
