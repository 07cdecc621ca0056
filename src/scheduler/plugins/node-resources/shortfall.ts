/** The resources that a node lacks for a pod, as NodeResourcesFit computes them. */
import { isExtendedResource } from '../../../api/core/quota/resource-list.ts'
import type { NodeInfo, PodInfo } from '../../framework/index.ts'

/** The requests of a pod, prepared for comparison with every node. */
export interface Demand {
  readonly cpu: number
  readonly memory: number
  readonly ephemeralStorage: number
  /** Other requested resources, without ignored ones. */
  readonly scalars: readonly (readonly [name: string, amount: number])[]
}

export interface Shortfall {
  readonly resource: string
  /** In the units of Resources. */
  readonly requested: number
  readonly used: number
  readonly capacity: number
}

const nothing: Demand['scalars'] = []

export function demandOf({ requests }: PodInfo, isIgnored: (name: string) => boolean): Demand {
  const { milliCPU, memory, ephemeralStorage, scalar } = requests
  const scalars =
    scalar.size === 0
      ? nothing
      : [...scalar].filter(([name, amount]) => amount > 0 && !(isExtendedResource(name) && isIgnored(name)))
  return { cpu: milliCPU, memory, ephemeralStorage, scalars }
}

/** Returns true if the pod fits. Fast, for it is called for every node. */
export function fits(
  { cpu, memory, ephemeralStorage, scalars }: Demand,
  { allocatable, requested, pods }: NodeInfo,
): boolean {
  return (
    pods.length < allocatable.pods &&
    (cpu === 0 || cpu <= allocatable.milliCPU - requested.milliCPU) &&
    (memory === 0 || memory <= allocatable.memory - requested.memory) &&
    (ephemeralStorage === 0 || ephemeralStorage <= allocatable.ephemeralStorage - requested.ephemeralStorage) &&
    (scalars.length === 0 ||
      scalars.every(
        ([name, amount]) => amount <= (allocatable.scalar.get(name) ?? 0) - (requested.scalar.get(name) ?? 0),
      ))
  )
}

/** The insufficient resources in upstream's order; empty if the pod fits. */
export function shortfalls(
  { cpu, memory, ephemeralStorage, scalars }: Demand,
  { allocatable, requested, pods }: NodeInfo,
): readonly Shortfall[] {
  const found: Shortfall[] = []
  const check = (resource: string, requested: number, used: number, capacity: number): void => {
    if (requested > 0 && requested > capacity - used) found.push({ resource, requested, used, capacity })
  }
  check('pods', 1, pods.length, allocatable.pods)
  check('cpu', cpu, requested.milliCPU, allocatable.milliCPU)
  check('memory', memory, requested.memory, allocatable.memory)
  check('ephemeral-storage', ephemeralStorage, requested.ephemeralStorage, allocatable.ephemeralStorage)
  for (const [name, amount] of scalars)
    check(name, amount, requested.scalar.get(name) ?? 0, allocatable.scalar.get(name) ?? 0)
  return found
}
