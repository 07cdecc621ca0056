/** The plan to give running containers of a pod its allocated resources: in place, or by a restart. */
import type { PodResources } from '../allocation/pod-resources.ts'
import { type Container, type Pod, specOf } from '../pod-types.ts'
import { amountsOf, type ContainerAmounts, effectiveRequirements, sameAmounts } from './container-amounts.ts'

export interface ContainerResize {
  readonly container: Container
  /** Its ID in the runtime. */
  readonly id: string
  readonly desired: ContainerAmounts
  readonly current: ContainerAmounts
}

export interface PodResize {
  /** Containers whose memory changes, those that get less first. */
  readonly memory: readonly ContainerResize[]
  readonly cpu: readonly ContainerResize[]
  /** True if a container restarts with other resources, so that the pod's cgroup changes. */
  readonly hasRestart: boolean
  /** True if the pod's own resources change. */
  readonly isOfPod: boolean
}

export class ResizePlan {
  readonly #pod: Pod
  readonly #actual: PodResources | undefined
  readonly #memory: ContainerResize[] = []
  readonly #cpu: ContainerResize[] = []
  #hasRestart = false

  /** `actual` are the resources that the cgroups have; undefined if they are not known, and nothing is resized. */
  constructor(pod: Pod, actual: PodResources | undefined) {
    this.#pod = pod
    this.#actual = actual
  }

  /** Takes a running container. Returns true if it has to restart. */
  add(container: Container, id: string): boolean {
    const known = this.#actual?.containers[container.name]
    if (!known) return false
    const desired = amountsOf(effectiveRequirements(container.resources, specOf(this.#pod).resources))
    const current = amountsOf(effectiveRequirements(known, this.#actual?.pod))
    if (sameAmounts(desired, current)) return false
    const restarts = (name: string): boolean =>
      container.resizePolicy?.some((one) => one.resourceName === name && one.restartPolicy === 'RestartContainer') ??
      false
    const cpu = firstChange(desired, current, 'cpuLimit', 'cpuRequest')
    const memory = firstChange(desired, current, 'memoryLimit', 'memoryRequest')
    if ((cpu !== 0n && restarts('cpu')) || (memory !== 0n && restarts('memory'))) {
      this.#hasRestart = true
      return true
    }
    const resize = { container, id, desired, current }
    enqueue(this.#memory, resize, memory)
    enqueue(this.#cpu, resize, cpu)
    return false
  }

  /** Undefined if nothing changes. */
  get resize(): PodResize | undefined {
    const memory = this.#memory
    const cpu = this.#cpu
    const hasRestart = this.#hasRestart
    const isOfPod =
      this.#actual !== undefined && !sameAmounts(amountsOf(this.#actual.pod), amountsOf(specOf(this.#pod).resources))
    return memory.length > 0 || cpu.length > 0 || hasRestart || isOfPod
      ? { memory, cpu, hasRestart, isOfPod }
      : undefined
  }
}

type Name = keyof ContainerAmounts

/** The change of the limit, else that of the request. */
const firstChange = (desired: ContainerAmounts, current: ContainerAmounts, limit: Name, request: Name): bigint =>
  desired[limit] - current[limit] || desired[request] - current[request]

/** Less comes before more, so that the sum stays within the pod's limit. */
function enqueue(queue: ContainerResize[], resize: ContainerResize, change: bigint): void {
  if (change > 0n) queue.push(resize)
  else if (change < 0n) queue.unshift(resize)
}
