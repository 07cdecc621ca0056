/** Types of CustomResourceDefinitions and their parts, as on the wire. */
import type {
  V1CustomResourceDefinition,
  V1CustomResourceDefinitionNames,
  V1CustomResourceDefinitionVersion,
} from '@kubernetes/client-node'
import type { Model, Wire } from '../../machinery/object.ts'

export type Definition = Model<V1CustomResourceDefinition>
export type DefinitionNames = Wire<V1CustomResourceDefinitionNames>
export type DefinitionVersion = Wire<V1CustomResourceDefinitionVersion>

/** Returns true if the definition's condition has status True. */
export const hasCondition = ({ status }: Definition, wanted: string): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === wanted && value === 'True') ?? false
