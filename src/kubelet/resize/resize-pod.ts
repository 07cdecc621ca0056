/** Carries out the resize of a pod: the cgroup of the pod, and those of its containers through the runtime. */

import type { CgroupValues } from '../../node/cgroups/tree/cgroup-values.ts'
import type { Requirements } from '../allocation/pod-resources.ts'
import { podCgroupValues } from '../cgroups/pod-cgroup-values.ts'
import type { PodCgroups } from '../cgroups/pod-cgroups.ts'
import { linuxResources, type NodeResources, sandboxResources } from '../cri/linux-resources.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import { type Pod, specOf } from '../pod-types.ts'
import { type ContainerAmounts, requirementsOf } from './container-amounts.ts'
import { checkMemory } from './memory-check.ts'
import type { ContainerResize, PodResize } from './plan-resize.ts'

export interface ResizeParts {
  readonly runtime: Pick<CriRuntime, 'updateResources' | 'updateSandboxResources' | 'containerStats'>
  readonly cgroups: Pick<PodCgroups, 'read' | 'set' | 'memoryUsage'>
  readonly node: NodeResources
  /** Records the resources that a container now has, or the pod itself. */
  readonly record: {
    setContainer(uid: string, name: string, resources: Requirements): void
    setPod(uid: string, resources: Requirements | undefined): void
  }
}

/** A limit that does not exist is larger than all others. */
const unlimited = 1n << 80n
const limitOf = (value: bigint | undefined): bigint => (value === undefined || value < 0n ? unlimited : value)

/**
 * Gives a pod the resources of its spec. Memory and CPU change one after the other; the pod's cgroup grows before its
 * containers, and shrinks after them. Rejects if one of them cannot be changed; the next attempt goes on from there.
 */
export async function resizePod(parts: ResizeParts, pod: Pod, sandboxId: string, resize: PodResize): Promise<void> {
  const { cgroups, node, record } = parts
  const desired = podCgroupValues(pod, node.hasQuota)
  const current = readCgroup(cgroups, pod)
  const isWhole = resize.hasRestart || resize.isOfPod
  if (resize.memory.length > 0 || resize.hasRestart) await checkMemory(parts, pod, resize, desired, current)
  const step = new Step(parts, pod, sandboxId)
  if (resize.memory.length > 0 || isWhole) {
    const limit = { memory: desired.memory ?? current?.memory }
    const order = compare(limitOf(limit.memory), limitOf(current?.memory))
    if (current && order > 0) await step.setPod('memory', limit)
    for (const one of resize.memory) await step.setContainer(one, 'memory')
    if (current && order < 0) await step.setPod('memory', limit)
  }
  if (resize.cpu.length > 0 || isWhole) {
    const { cpuShares, cpuQuota = current?.cpuQuota, cpuPeriod } = desired
    const limit = { cpuQuota, ...(cpuPeriod !== undefined && { cpuPeriod }) }
    const limitOrder = compare(limitOf(cpuQuota), limitOf(current?.cpuQuota))
    const requestOrder = compare(cpuShares ?? 0n, current?.cpuShares ?? 0n)
    if (current && limitOrder > 0) await step.setPod('cpu', limit)
    if (current && requestOrder > 0) await step.setPod('cpu', { cpuShares })
    for (const one of resize.cpu) await step.setContainer(one, 'cpu')
    if (current && requestOrder < 0) await step.setPod('cpu', { cpuShares })
    if (current && limitOrder < 0) await step.setPod('cpu', limit)
  }
  if (resize.isOfPod) record.setPod(pod.metadata.uid ?? '', specOf(pod).resources)
}

const compare = (a: bigint, b: bigint): number => (a > b ? 1 : a < b ? -1 : 0)

function readCgroup(cgroups: ResizeParts['cgroups'], pod: Pod): CgroupValues | undefined {
  try {
    return cgroups.read(pod)
  } catch (error) {
    const { name, namespace, uid } = pod.metadata
    throw new Error(`unable to get pod cgroup cpu config for pod "${name}_${namespace}(${uid})"`, { cause: error })
  }
}

/** One resize: it knows what containers have already got. */
class Step {
  readonly #parts: ResizeParts
  readonly #pod: Pod
  readonly #sandboxId: string
  /** By container ID. */
  readonly #current = new Map<string, ContainerAmounts>()

  constructor(parts: ResizeParts, pod: Pod, sandboxId: string) {
    this.#parts = parts
    this.#pod = pod
    this.#sandboxId = sandboxId
  }

  /** The runtime is notified first: one that sizes a sandbox may reject the resize. */
  async setPod(resource: 'cpu' | 'memory', values: CgroupValues): Promise<void> {
    const { runtime, cgroups, node } = this.#parts
    const { resources, overhead } = sandboxResources(this.#pod, node)
    try {
      await runtime.updateSandboxResources(this.#sandboxId, resources, overhead)
    } catch (error) {
      throw new Error(
        `failed to notify runtime for UpdatePodSandboxResources (resource=${resource}); resize rejected: ` +
          (error as Error).message,
      )
    }
    cgroups.set(this.#pod, values)
  }

  /** Sets one resource; the other one stays as it is. */
  async setContainer({ container, id, desired, current }: ContainerResize, resource: 'cpu' | 'memory'): Promise<void> {
    const { runtime, node, record } = this.#parts
    const before = this.#current.get(id) ?? current
    const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = desired
    const next = resource === 'cpu' ? { ...before, cpuRequest, cpuLimit } : { ...before, memoryRequest, memoryLimit }
    const resources = requirementsOf(next)
    await runtime.updateResources(id, linuxResources(this.#pod, { ...container, resources }, node))
    this.#current.set(id, next)
    record.setContainer(this.#pod.metadata.uid ?? '', container.name, resources)
  }
}
