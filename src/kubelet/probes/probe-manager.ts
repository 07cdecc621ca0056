/**
 * The probes of all pods, and their results by container ID. It learns from each state of a pod that is read from the
 * runtime which containers run, so that results are right before the next step of the pod.
 */
import type { ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { type Container, longRunningContainers, type Pod, specOf } from '../pod-types.ts'
import type { ProbeResults } from '../pods/plan/plan.ts'
import { isRunning, newestContainer, type RuntimePod } from '../pods/runtime-pod.ts'
import { ContainerProbes, hasProbes } from './container-probes.ts'
import type { Instance, WorkerServices } from './probe-worker.ts'

export interface ProbeManagerOptions extends WorkerServices {
  /** The node's address, which is that of pods in its network. */
  readonly hostIp: () => string
  /** Called when a result has changed: the pod must be synced. */
  readonly onChange: (pod: Pod) => void
}

interface PodProbes {
  /** By container name. */
  readonly containers: ReadonlyMap<string, ContainerProbes>
  isTerminating: boolean
}

export class ProbeManager implements ProbeResults {
  readonly #options: ProbeManagerOptions
  /** By pod UID. */
  readonly #pods = new Map<string, PodProbes>()
  readonly #byContainerId = new Map<string, ContainerProbes>()
  #isStopped = false

  constructor(options: ProbeManagerOptions) {
    this.#options = options
  }

  isAlive(containerId: string): boolean {
    return this.#byContainerId.get(containerId)?.isAlive ?? true
  }

  isStarted(containerId: string): boolean {
    return this.#byContainerId.get(containerId)?.isStarted ?? true
  }

  /** True if it has started, and has no readiness probe or that has succeeded. */
  isReady(containerId: string): boolean {
    return this.#byContainerId.get(containerId)?.isReady ?? true
  }

  /** Starts the probes of a pod, or takes a newer version of it. Probes themselves cannot change. */
  add(pod: Pod): void {
    this.#probesOf(pod)
  }

  /** Takes the state of a pod in the runtime: new containers are probed from now on. */
  observe(pod: Pod, runtimePod: RuntimePod): void {
    if (this.#isStopped) return
    const podIp = (specOf(pod).hostNetwork ? this.#options.hostIp() : runtimePod.ips[0]) ?? ''
    for (const [name, probes] of this.#probesOf(pod).containers) {
      const status = newestContainer(runtimePod, name)
      if (!status) continue
      if (probes.id !== status.id) {
        if (probes.id !== undefined) this.#byContainerId.delete(probes.id)
        this.#byContainerId.set(status.id, probes)
      }
      probes.observe(instanceOf(status, podIp), isRunning(status))
    }
  }

  /** Ends the liveness and startup probes of a pod that terminates. Its readiness is probed until it is removed. */
  stopLiveness(pod: Pod): void {
    const probes = this.#probesOf(pod)
    if (probes.isTerminating) return
    probes.isTerminating = true
    for (const container of probes.containers.values()) container.stopLiveness()
  }

  /** Ends the probes of a pod. */
  remove({ metadata: { uid = '' } }: Pod): void {
    const probes = this.#pods.get(uid)
    if (!probes) return
    for (const container of probes.containers.values()) {
      container.stop()
      if (container.id !== undefined) this.#byContainerId.delete(container.id)
    }
    this.#pods.delete(uid)
    this.#options.metrics.remove(uid)
  }

  /** Ends all probes. */
  stop(): void {
    this.#isStopped = true
    for (const { containers } of this.#pods.values()) for (const container of containers.values()) container.stop()
    this.#pods.clear()
    this.#byContainerId.clear()
  }

  #probesOf(pod: Pod): PodProbes {
    const { uid = '' } = pod.metadata
    const present = this.#pods.get(uid)
    const probed = longRunningContainers(pod).filter(hasProbes)
    if (present) {
      for (const container of probed) present.containers.get(container.name)?.update(pod, container)
      return present
    }
    const made = { containers: new Map(probed.map((one) => [one.name, this.#make(pod, one)])), isTerminating: false }
    this.#pods.set(uid, made)
    return made
  }

  #make(pod: Pod, container: Container): ContainerProbes {
    return new ContainerProbes(pod, container, this.#options, this.#options.onChange)
  }
}

const instanceOf = ({ id, startedAt }: ContainerStatus, podIp: string): Instance => ({
  id,
  startedAt: Number(startedAt / 1_000_000n),
  podIp,
})
