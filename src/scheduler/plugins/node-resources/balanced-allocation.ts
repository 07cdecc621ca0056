/**
 * NodeResourcesBalancedAllocation: a pod rather goes where it makes the shares of cpu, memory and others that are taken
 * more alike.
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
  type AskedResource,
  askedOf,
  type ResourceSpec,
  resourceSpecs,
  takenOf,
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
      const again = seen.has(name) ? [duplicate(`${path}.resources[${i}].name`, name)] : []
      seen.add(name)
      return weight === 1 ? again : [...again, invalidValue(`${path}.resources[${i}].weight`, weight, 'must be 1')]
    })
  },
}

export const nodeResourcesBalancedAllocation = pluginFactory<Args>({
  name: 'NodeResourcesBalancedAllocation',
  args,
  make: ({ resources }): Plugin<unknown, readonly AskedResource[]> => ({
    preScore(pod) {
      const asked = askedOf(resources, pod, false)
      // One that asks for nothing changes nothing, and all of its kind would go to one node.
      return asked.every((one) => one.asked === 0) ? skip : { state: asked }
    },
    score(asked, _pod, node) {
      const gain = balance(asked, node, 1) - balance(asked, node, 0)
      return maxNodeScore / 2 + Math.trunc((maxNodeScore / 2 + gain) / 2)
    },
  }),
})

/**
 * 100 if the same share of all resources is taken, less the more the shares differ (by their standard deviation); with
 * the pod, or without.
 */
function balance(resources: readonly AskedResource[], node: NodeInfo, pods: 0 | 1): number {
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
  // Of two it is half of what is between them; squares would only add their rounding.
  const deviation = count === 2 ? Math.abs(first - last) / 2 : deviationFrom(sum / count, count, resources, node, pods)
  return Math.trunc((1 - deviation) * maxNodeScore)
}

function deviationFrom(
  mean: number,
  count: number,
  resources: readonly AskedResource[],
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

/** How much of a resource is taken, 0 to 1. Undefined if the node does not have it. */
function shareOf({ name, asked }: AskedResource, node: NodeInfo, pods: 0 | 1): number | undefined {
  const capacity = amountOf(node.allocatable, name)
  return capacity === 0 ? undefined : Math.min(1, (takenOf(node, name, false) + pods * asked) / capacity)
}
