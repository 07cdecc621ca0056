/**
 * NodeResourcesBalancedAllocation: prefers nodes on which the used shares of cpu, memory and other resources become
 * more balanced.
 */
import { duplicate, type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import {
  type ArgsKind,
  amountOf,
  maxNodeScore,
  type NodeInfo,
  type Plugin,
  pluginFactory,
  skip,
} from '../../framework/index.ts'
import {
  type RequestedResource,
  type ResourceSpec,
  requestedOf,
  resourceSpecs,
  usedOf,
  withWeights,
} from './scored-resources.ts'

interface Args {
  readonly resources: readonly ResourceSpec[]
}

const args: ArgsKind<Args> = {
  fields: { resources: resourceSpecs },
  withDefaults: ({ resources }) => ({ resources: withWeights(resources) }),
  validate({ resources }, path) {
    const seen = new Set<string>()
    return resources.flatMap(({ name, weight }, i): FieldError[] => {
      const duplicates = seen.has(name) ? [duplicate(`${path}.resources[${i}].name`, name)] : []
      seen.add(name)
      return weight === 1
        ? duplicates
        : [...duplicates, invalidValue(`${path}.resources[${i}].weight`, weight, 'must be 1')]
    })
  },
}

export const nodeResourcesBalancedAllocation = pluginFactory<Args>({
  name: 'NodeResourcesBalancedAllocation',
  args,
  make: ({ resources }): Plugin<unknown, readonly RequestedResource[]> => ({
    preScore(pod) {
      const requested = requestedOf(resources, pod, false)
      // A pod without requests changes nothing, so all such pods would go to one node.
      return requested.every((one) => one.requested === 0) ? skip : { state: requested }
    },
    score(requested, _pod, node) {
      const gain = balance(requested, node, 1) - balance(requested, node, 0)
      return maxNodeScore / 2 + Math.trunc((maxNodeScore / 2 + gain) / 2)
    },
  }),
})

/** 100 if the used shares are equal, less with a higher standard deviation; with the pod or without. */
function balance(resources: readonly RequestedResource[], node: NodeInfo, pods: 0 | 1): number {
  let count = 0
  let sum = 0
  let first = 0
  let last = 0
  for (const resource of resources) {
    const share = shareOf(resource, node, pods)
    if (share === undefined) continue
    if (count++ === 0) first = share
    last = share
    sum += share
  }
  if (count < 2) return maxNodeScore
  // For two it is half of their difference, exact without squares.
  const deviation = count === 2 ? Math.abs(first - last) / 2 : deviationFrom(sum / count, count, resources, node, pods)
  return Math.trunc((1 - deviation) * maxNodeScore)
}

function deviationFrom(
  mean: number,
  count: number,
  resources: readonly RequestedResource[],
  node: NodeInfo,
  pods: 0 | 1,
): number {
  let squares = 0
  for (const resource of resources) {
    const share = shareOf(resource, node, pods)
    if (share !== undefined) squares += (share - mean) * (share - mean)
  }
  return Math.sqrt(squares / count)
}

/** The used share of a resource, 0 to 1. Undefined if the node lacks it. */
function shareOf({ name, requested }: RequestedResource, node: NodeInfo, pods: 0 | 1): number | undefined {
  const capacity = amountOf(node.allocatable, name)
  return capacity === 0 ? undefined : Math.min(1, (usedOf(node, name, false) + pods * requested) / capacity)
}
