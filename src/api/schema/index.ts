/** The schemas of all kinds, as generated from the official client's models and our table of facts. */
import type { StructType } from '../../machinery/schema.ts'
import type { ResourceDefinition } from '../resource.ts'
import { definitionName } from './group-versions.ts'
import { modelOfDefinition, modelType } from './loader.ts'

export { definitionName } from './group-versions.ts'
export { descriptionsOf, modelNames, modelOfDefinition } from './loader.ts'
export { numberedFields } from './protobuf.ts'

type Kind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'model'>

/**
 * The schema of a kind: by its `model`, else by group, version and kind. Undefined when there is none (custom
 * resources).
 */
export function schemaOf({ group, version, kind, model }: Kind): StructType | undefined {
  const name = model ?? modelOfDefinition(definitionName(group, version, kind))
  return name === undefined ? undefined : modelType(name)
}

/** The schema of a model of the client (`V1Pod`, `CoreV1Event`) or of a kind. Throws when there is none. */
export function schemaType(of: string | Kind): StructType {
  if (typeof of === 'string') return modelType(of)
  const type = schemaOf(of)
  if (!type) throw new Error(`no schema for kind ${of.kind} of ${of.group}/${of.version}`)
  return type
}
