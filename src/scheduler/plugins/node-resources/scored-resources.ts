/** The resources by which nodes are scored, and the amounts requested and in use. */
import { int32, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import type { FieldType } from '../../../machinery/schema.ts'
import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import { amountOf, type NodeInfo, type PodInfo } from '../../framework/index.ts'

/** As in configurations. */
export interface ResourceSpec {
  readonly name: string
  /** 1 to 100. */
  readonly weight: number
}

export const resourceSpecs: FieldType = listOf(structOf('ResourceSpec', { name: text, weight: int32 }))

const cpuAndMemory: readonly ResourceSpec[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]

/** Default: cpu and memory, all with weight 1. */
export const withWeights = (specs: readonly Partial<ResourceSpec>[] | undefined): readonly ResourceSpec[] =>
  specs?.length ? specs.map(({ name = '', weight }) => ({ name, weight: weight || 1 })) : cpuAndMemory

export const weightFaults = (specs: readonly ResourceSpec[], path: string): FieldError[] =>
  specs.flatMap(({ name, weight }, i) =>
    weight > 0 && weight <= 100
      ? []
      : [invalidValue(`${path}[${i}].weight`, weight, `resource weight of ${name} not in valid range (0, 100]`)],
  )

/** A resource with the amount that the pod requests. */
export interface RequestedResource extends ResourceSpec {
  readonly requested: number
}

/**
 * The requests of a pod for the scored resources. Resources that it does not request count only if every node has them:
 * cpu, memory and ephemeral storage. `nonZero`: containers without requests count with defaults.
 */
export function requestedOf(
  specs: readonly ResourceSpec[],
  { requests, nonZeroRequests }: PodInfo,
  nonZero: boolean,
): readonly RequestedResource[] {
  const from = nonZero ? { ...requests, ...nonZeroRequests } : requests
  return specs
    .map((spec) => ({ ...spec, requested: amountOf(from, spec.name) }))
    .filter(({ name, requested }) => requested > 0 || onEveryNode.has(name))
}

const onEveryNode = new Set(['cpu', 'memory', 'ephemeral-storage'])

/**
 * The amount of a resource that the pods of a node request; with `nonZero`, containers without requests count with
 * defaults.
 */
export function usedOf({ requested, nonZeroRequested }: NodeInfo, name: string, nonZero: boolean): number {
  if (nonZero && name === 'cpu') return nonZeroRequested.milliCPU
  if (nonZero && name === 'memory') return nonZeroRequested.memory
  return amountOf(requested, name)
}
