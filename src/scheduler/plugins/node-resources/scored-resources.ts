/** Which resources a node is scored by, and how much of each a pod would take there. */
import { int32, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import type { FieldType } from '../../../machinery/schema.ts'
import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import { amountOf, type NodeInfo, type PodInfo } from '../../framework/index.ts'

/** As configurations name them. */
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

/** cpu and memory where none are named; all weigh 1 unless said. */
export const withWeights = (specs: readonly Partial<ResourceSpec>[] | undefined): readonly ResourceSpec[] =>
  specs?.length ? specs.map(({ name = '', weight }) => ({ name, weight: weight || 1 })) : cpuAndMemory

export const weightFaults = (specs: readonly ResourceSpec[], path: string): FieldError[] =>
  specs.flatMap(({ name, weight }, i) =>
    weight > 0 && weight <= 100
      ? []
      : [invalidValue(`${path}[${i}].weight`, weight, `resource weight of ${name} not in valid range (0, 100]`)],
  )

/** A resource with what a pod asks of it. */
export interface AskedResource extends ResourceSpec {
  readonly asked: number
}

/**
 * What a pod asks of the resources that nodes are scored by. Those that it does not ask for count only if every node
 * has them: cpu, memory and ephemeral storage. `nonZero`: containers that ask for no cpu or memory count for a little.
 */
export function askedOf(
  specs: readonly ResourceSpec[],
  { requests, nonZeroRequests }: PodInfo,
  nonZero: boolean,
): readonly AskedResource[] {
  const from = nonZero ? { ...requests, ...nonZeroRequests } : requests
  return specs
    .map((spec) => ({ ...spec, asked: amountOf(from, spec.name) }))
    .filter(({ name, asked }) => asked > 0 || onEveryNode.has(name))
}

const onEveryNode = new Set(['cpu', 'memory', 'ephemeral-storage'])

/**
 * How much of a resource the pods of a node ask for, with something for those that ask for no cpu or memory if
 * `nonZero`.
 */
export function takenOf({ requested, nonZeroRequested }: NodeInfo, name: string, nonZero: boolean): number {
  if (nonZero && name === 'cpu') return nonZeroRequested.milliCPU
  if (nonZero && name === 'memory') return nonZeroRequested.memory
  return amountOf(requested, name)
}
