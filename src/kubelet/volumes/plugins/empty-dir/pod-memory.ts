/** The memory that a pod may use. */
import { wholeValue } from '../../../../machinery/values/quantity.ts'
import { type Container, isSidecar, type Pod, specOf } from '../../../pod-types.ts'

/** In bytes; 0 without a limit, as if one container has none. Init containers do not run beside the others. */
export function podMemoryLimit(pod: Pod): bigint {
  const { resources, containers, initContainers = [], overhead = {} } = specOf(pod)
  const ofPod = limitOf({ resources })
  if (ofPod > 0n) return ofPod
  if ([...initContainers, ...containers].some((container) => limitOf(container) === 0n)) return 0n
  const main = sum(containers)
  let sidecars = 0n
  let most = 0n
  for (const container of initContainers) {
    const limit = limitOf(container)
    if (isSidecar(container)) sidecars += limit
    most = max(most, isSidecar(container) ? sidecars : sidecars + limit)
  }
  return max(most, main + sidecars) + (overhead.memory ? wholeValue(overhead.memory) : 0n)
}

const limitOf = ({ resources }: Pick<Container, 'resources'>): bigint => {
  const limit = resources?.limits?.memory
  return limit === undefined ? 0n : wholeValue(limit)
}

const sum = (containers: readonly Container[]): bigint =>
  containers.reduce((total, container) => total + limitOf(container), 0n)

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
