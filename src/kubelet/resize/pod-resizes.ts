/** The resizes of pods: what their cgroups have, what still has to change, and how it is reported. */
import type { PodResources, Requirements } from '../allocation/pod-resources.ts'
import { resourcesOfSpec } from '../allocation/pod-resources.ts'
import type { ResizeConditions } from '../allocation/resize-conditions.ts'
import { resizeMessage } from '../allocation/resize-message.ts'
import type { ResourceRecord } from '../allocation/resource-record.ts'
import { type Container, type Pod, podName, specOf } from '../pod-types.ts'
import { isRunning, newestContainer, type RuntimePod, runningContainers } from '../pods/runtime-pod.ts'
import { amountsOf, effectiveRequirements, sameAmounts } from './container-amounts.ts'
import type { PodResize } from './plan-resize.ts'
import { type ResizeParts, resizePod } from './resize-pod.ts'

export interface PodResizesOptions extends Omit<ResizeParts, 'record'> {
  readonly record: ResourceRecord
  readonly conditions: ResizeConditions
  readonly events: { ofPod(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void }
  /** Called when the resources of a pod have changed. */
  readonly resized: () => void
  readonly log: (line: string) => void
}

export class PodResizes {
  readonly #options: PodResizesOptions

  constructor(options: PodResizesOptions) {
    this.#options = options
  }

  /** The resources that the cgroups of a pod have; undefined if they are not known. */
  actual(pod: Pod): PodResources | undefined {
    return this.#options.record.get(pod.metadata.uid ?? '')
  }

  /** The pod's cgroup has been made with the pod's own resources. */
  podCreated(pod: Pod): void {
    this.#setPod(pod.metadata.uid ?? '', specOf(pod).resources)
  }

  /** A container is created with its resources. */
  containerCreated(pod: Pod, container: Container): void {
    const resources = effectiveRequirements(container.resources, specOf(pod).resources)
    this.#options.record.setContainer(pod.metadata.uid ?? '', container.name, resources)
  }

  /** Sets or clears the condition of a resize in progress. Records an event when it is complete. */
  observe(pod: Pod, runtimePod: RuntimePod): void {
    const { record, conditions, events, resized } = this.#options
    const { uid = '', generation } = pod.metadata
    // The record of a pod that runs already is lost: it has what it was allocated.
    if (!record.get(uid) && runningContainers(runtimePod).length > 0) this.#adopt(pod)
    if (this.#isInProgress(pod, runtimePod)) {
      conditions.setInProgress(uid, { generation })
      return
    }
    const cleared = conditions.clear(uid, 'PodResizeInProgress')
    if (!cleared) return
    events.ofPod(
      pod,
      'Normal',
      'ResizeCompleted',
      resizeMessage('Pod resize completed', pod, cleared.observedGeneration),
    )
    resized()
  }

  /** Resolves with false, after a condition and an event, if the resize has failed. */
  async carryOut(pod: Pod, sandboxId: string, resize: PodResize): Promise<boolean> {
    const { conditions, events, log } = this.#options
    const { uid = '', generation } = pod.metadata
    const record = {
      setContainer: (id: string, name: string, resources: Requirements) =>
        this.#options.record.setContainer(id, name, resources),
      setPod: (id: string, resources: Requirements | undefined) => this.#setPod(id, resources),
    }
    try {
      await resizePod({ ...this.#options, record }, pod, sandboxId, resize)
      return true
    } catch (error) {
      const message = (error as Error).message
      log(`cannot resize the pod ${podName(pod)}: ${message}`)
      if (conditions.setInProgress(uid, { reason: 'Error', message, generation })) {
        const known = conditions.find(uid, 'PodResizeInProgress')?.observedGeneration
        events.ofPod(pod, 'Warning', 'ResizeError', resizeMessage('Pod resize error', pod, known, message))
      }
      return false
    }
  }

  forget(uid: string): void {
    this.#options.record.delete(uid)
  }

  #adopt(pod: Pod): void {
    const { containers, pod: whole } = resourcesOfSpec(pod)
    const effective = Object.entries(containers).map(
      ([name, own]) => [name, effectiveRequirements(own, whole)] as const,
    )
    this.#options.record.set(pod.metadata.uid ?? '', {
      containers: Object.fromEntries(effective),
      ...(whole && { pod: whole }),
    })
  }

  #setPod(uid: string, resources: Requirements | undefined): void {
    const { record } = this.#options
    const { containers } = record.get(uid) ?? { containers: {} }
    record.set(uid, { containers, ...(resources && { pod: resources }) })
  }

  /** True if a running container, or the pod, has other resources than it was allocated. */
  #isInProgress(pod: Pod, runtimePod: RuntimePod): boolean {
    const actual = this.actual(pod)
    if (!actual) return false
    const { initContainers = [], containers, resources } = specOf(pod)
    const differs = [...initContainers, ...containers].some((container) => {
      const status = newestContainer(runtimePod, container.name)
      const known = actual.containers[container.name]
      if (!status || !isRunning(status) || !known) return false
      return !sameAmounts(amountsOf(effectiveRequirements(container.resources, resources)), amountsOf(known))
    })
    return (
      differs ||
      (resources !== undefined && actual.pod !== undefined && !sameAmounts(amountsOf(actual.pod), amountsOf(resources)))
    )
  }
}
