/** The adjustment of the kernel's choice of processes to kill when memory is short. */
import { isPodLevelResource, podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { qosClass } from '../../api/core/pod/resources/qos.ts'
import { wholeValue } from '../../machinery/values/quantity.ts'
import { type Container, isSidecar, type Pod, specOf, statusOf } from '../pod-types.ts'

const guaranteed = -997
const bestEffort = 1000
/** Pods of `system-node-critical` priority. */
const nodeCritical = -997
const nodeCriticalPriority = 2_000_001_000

/**
 * A container of a burstable pod scores less the more of the node's memory it requests; always above guaranteed pods
 * and below best-effort ones. Containers share the requests of their pod that none of them has (KEP-2837). `memory` is
 * the node's, in bytes.
 */
export function oomScoreAdjustment(pod: Pod, container: Container, memory: bigint): number {
  const spec = specOf(pod)
  if ((spec.priority ?? 0) >= nodeCriticalPriority) return nodeCritical
  const qos = statusOf(pod).qosClass ?? qosClass(spec)
  if (qos === 'Guaranteed') return guaranteed
  if (qos === 'BestEffort') return bestEffort
  const shared = sharedRequest(pod)
  const scoreOf = (request: bigint): number => 1000 - Number((1000n * (request + shared)) / memory)
  const own = scoreOf(requestOf(container))
  // A sidecar lives as long as the containers that need it.
  const most = (): number => Math.max(...spec.containers.map((one) => scoreOf(requestOf(one))))
  const isOfSidecar = isSidecar(container) && spec.initContainers?.some(({ name }) => name === container.name)
  const adjustment = isOfSidecar ? Math.min(own, most()) : own
  if (adjustment < 1000 + guaranteed) return 1000 + guaranteed
  return adjustment === bestEffort ? bestEffort - 1 : adjustment
}

const requestOf = ({ resources }: Pick<Container, 'resources'>): bigint => {
  const request = resources?.requests?.memory
  return request === undefined ? 0n : wholeValue(request)
}

/** The part of the pod's own request that each container gets beside its own, in bytes. */
function sharedRequest(pod: Pod): bigint {
  const { resources, containers, initContainers = [] } = specOf(pod)
  if (!Object.keys(resources?.requests ?? {}).some(isPodLevelResource)) return 0n
  const whole = requestOf({ resources })
  if (whole === 0n) return 0n
  const { resources: _, ...rest } = specOf(pod)
  const { memory = '0' } = podRequests({ ...pod, spec: rest })
  return (whole - wholeValue(memory)) / BigInt(containers.length + initContainers.length)
}
