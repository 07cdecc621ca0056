/** Carries out the plan of a pod: sandbox, init containers, containers, and their end. The steps of its worker. */
import { ContainerState, type ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { BackOff, type BackOffLimits } from '../containers/back-off.ts'
import type { PodEvents } from '../containers/container-events.ts'
import { type ContainerStarter, StartError, startContainer } from '../containers/start-container.ts'
import { type ContainerStopper, stopContainer, stopContainers } from '../containers/stop-container.ts'
import { containerHash, containerNameOf } from '../cri/labels.ts'
import { type NamespaceOptions, targetedNamespaces } from '../cri/namespaces.ts'
import type { CriRuntime, SandboxConfig } from '../cri/runtime.ts'
import { type Container, type Pod, specOf } from '../pod-types.ts'
import { stopGraceSeconds } from '../probes/stop-grace.ts'
import type { PodResizes } from '../resize/pod-resizes.ts'
import { type PodSteps, type SyncResult, type Termination, TransientError } from '../workers/pod-worker.ts'
import { activeMsLeft, deadlineExceeded } from './active-deadline.ts'
import { isEmptyPlan, type PodPlan, type ProbeResults, planPod, type Stop } from './plan/plan.ts'
import type { Removal } from './plan/restart-of-all.ts'
import {
  hasExited,
  isRunning,
  newestContainer,
  nextRestartCount,
  type RuntimePod,
  readySandbox,
  runningContainers,
} from './runtime-pod.ts'

/** The reason and message of a container that waits, by container name. */
export type Waiting = ReadonlyMap<string, { readonly reason: string; readonly message: string }>

/** The parts of the kubelet that a pod's steps use. */
export interface PodParts {
  readonly runtime: Pick<CriRuntime, 'runSandbox' | 'stopSandbox' | 'removeContainer'>
  readonly starter: ContainerStarter
  readonly stopper: ContainerStopper
  readonly events: PodEvents
  readonly now: () => number
  /** The delays of restarts (CrashLoopBackOff). */
  readonly restartLimits: BackOffLimits
  /** Reads the pod's state from the runtime, not older than the call. */
  read(pod: Pod): Promise<RuntimePod>
  /** Reads the addresses of a new sandbox. */
  sandboxIps(pod: Pod, sandboxId: string): Promise<readonly string[]>
  /** Takes a state of the runtime that needs no step: the worker is woken when the runtime has another one. */
  settle(runtimePod: RuntimePod): void
  /** The namespaces of the pod. Rejects if the runtime cannot make them. */
  namespaces(pod: Pod): Promise<NamespaceOptions>
  sandboxConfig(pod: Pod, attempt: number, namespaces: NamespaceOptions): SandboxConfig
  /** The handler of the pod's RuntimeClass; empty for the default. Rejects if the class does not exist. */
  runtimeHandler(pod: Pod): Promise<string>
  /** Prepares cgroups and folders; resolves when volumes are mounted. Rejects with the reason of a FailedMount. */
  prepare(pod: Pod): Promise<void>
  /** Releases volumes, cgroups and folders of a pod without containers. */
  release(pod: Pod): Promise<void>
  /** The reason why pods cannot have a network yet; undefined if they can. */
  networkProblem(): string | undefined
  readonly probes: ProbeResults & {
    add(pod: Pod): void
    /** Takes each state of the pod that is read, so that results belong to its containers. */
    observe(pod: Pod, runtimePod: RuntimePod): void
    remove(pod: Pod): void
    stopLiveness(pod: Pod): void
  }
  readonly resizes: Pick<PodResizes, 'actual' | 'carryOut'>
  /** Reports the status; `isFinal` once no container will start again. Returns true if all containers have ended. */
  report(pod: Pod, runtimePod: RuntimePod, waiting: Waiting, termination?: Termination): boolean
  /** Returns true if the last report says that all containers of the pod restart. */
  isRestartingAll(pod: Pod): boolean
  /** The number of the first start of a container that the runtime does not know, by the logs in a pod's folder. */
  firstRestartCount(logFolder: string, name: string): Promise<number>
  /** Reports that nothing of the pod is left, so that its object may be removed. */
  reportReleased(pod: Pod): void
}

export class PodSync implements PodSteps {
  readonly #parts: PodParts
  readonly #restarts: BackOff
  /** By pod UID: why containers wait. */
  readonly #waiting = new Map<string, Map<string, { readonly reason: string; readonly message: string }>>()

  /** The UIDs of pods that end: their sync starts no more containers. */
  readonly #interrupted = new Set<string>()

  constructor(parts: PodParts) {
    this.#parts = parts
    this.#restarts = new BackOff(parts.restartLimits, parts.now)
  }

  async sync(pod: Pod): Promise<SyncResult> {
    const { parts, waiting } = { parts: this.#parts, waiting: this.#waitingOf(pod) }
    const before = await this.#read(pod)
    if (parts.report(pod, before, waiting)) return { hasEnded: true }
    const activeMs = activeMsLeft(pod, parts.now())
    if (activeMs !== undefined && activeMs <= 0) return this.#exceedDeadline(pod)
    const problem = specOf(pod).hostNetwork ? undefined : parts.networkProblem()
    if (problem) {
      parts.events.ofPod(pod, 'Warning', 'NetworkNotReady', `network is not ready: ${problem}`)
      throw new TransientError(`network is not ready: ${problem}`)
    }
    await parts.prepare(pod)
    parts.probes.add(pod)
    const plan = this.#plan(pod, before)
    const retryMs = await this.#carryOut(pod, before, plan)
    const after = isEmptyPlan(plan) ? before : await this.#read(pod)
    const isSettled = after === before || isEmptyPlan(this.#plan(pod, after))
    if (isSettled) parts.settle(after)
    const nextMs = Math.min(retryMs ?? Infinity, activeMs ?? Infinity)
    return { hasEnded: parts.report(pod, after, waiting), isSettled, ...(nextMs < Infinity && { retryMs: nextMs }) }
  }

  #plan(pod: Pod, runtimePod: RuntimePod): PodPlan {
    const { probes, resizes } = this.#parts
    const isRestartingAll = this.#parts.isRestartingAll(pod)
    return planPod(pod, runtimePod, { probes, actual: resizes.actual(pod), isRestartingAll })
  }

  #exceedDeadline(pod: Pod): SyncResult {
    const { reason, message } = deadlineExceeded
    this.#parts.events.ofPod(pod, 'Normal', reason, message)
    const graceSeconds = specOf(pod).terminationGracePeriodSeconds ?? 30
    return { hasEnded: true, termination: { graceSeconds, status: deadlineExceeded } }
  }

  interrupt(pod: Pod): void {
    this.#interrupted.add(pod.metadata.uid ?? '')
    this.#parts.starter.cancelImages(pod)
  }

  async terminate(pod: Pod, termination: Termination, signal: AbortSignal): Promise<void> {
    const { probes, report } = this.#parts
    probes.stopLiveness(pod)
    const runtimePod = await this.#read(pod)
    report(pod, runtimePod, this.#waitingOf(pod), termination)
    const ended = this.#killPod(pod, runtimePod, termination.graceSeconds)
    const interrupted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    await Promise.race([ended, interrupted])
    // The error of an interrupted attempt is that of the next one.
    if (signal.aborted) return void ended.catch(() => {})
    const left = await this.#read(pod)
    if (runningContainers(left).length > 0) throw new Error('containers have not ended')
    probes.remove(pod)
    report(pod, left, this.#waitingOf(pod), termination)
  }

  async cleanUp(pod: Pod): Promise<void> {
    await this.#parts.release(pod)
    this.#waiting.delete(pod.metadata.uid ?? '')
    this.#interrupted.delete(pod.metadata.uid ?? '')
    this.#parts.reportReleased(pod)
  }

  async #read(pod: Pod): Promise<RuntimePod> {
    const runtimePod = await this.#parts.read(pod)
    this.#parts.probes.observe(pod, runtimePod)
    return runtimePod
  }

  #waitingOf({ metadata: { uid = '' } }: Pod): Map<string, { readonly reason: string; readonly message: string }> {
    let waiting = this.#waiting.get(uid)
    if (!waiting) this.#waiting.set(uid, (waiting = new Map()))
    return waiting
  }

  /** Returns the time in ms until a back-off ends, if a container waits for one. */
  async #carryOut(pod: Pod, runtimePod: RuntimePod, plan: PodPlan): Promise<number | undefined> {
    if (plan.killPod) {
      await this.#killPod(pod, runtimePod, specOf(pod).terminationGracePeriodSeconds ?? 30)
      if (!plan.createSandbox) return undefined
    } else for (const stop of plan.stop) await this.#stop(pod, runtimePod, stop)
    if (plan.remove.length > 0) return this.#remove(pod, plan.remove)
    const sandbox = await this.#sandbox(pod, runtimePod, plan)
    const waits: number[] = []
    const start = async (containers: readonly Container[]): Promise<void> => {
      for (const container of containers) {
        if (this.#interrupted.has(pod.metadata.uid ?? '')) break
        const waitMs = await this.#start(pod, container, runtimePod, sandbox)
        if (waitMs !== undefined) waits.push(waitMs)
      }
    }
    await start([...plan.startEphemeral, ...plan.startInit])
    if (plan.resize && !(await this.#parts.resizes.carryOut(pod, sandbox.id, plan.resize))) waits.push(failedResizeMs)
    await start(plan.startMain)
    return waits.length > 0 ? Math.min(...waits) : undefined
  }

  async #stop(pod: Pod, runtimePod: RuntimePod, stop: Stop): Promise<void> {
    const { id, message, container } = stop
    if (!runtimePod.containers.some((one) => one.id === id)) return
    const graceSeconds = stopGraceSeconds(pod, stop)
    await stopContainer(this.#parts.stopper, { pod, id, name: container.name, graceSeconds, message })
  }

  /** Removes all containers, which have no time to end. Returns 0: their start is the next step. */
  async #remove(pod: Pod, removals: readonly Removal[]): Promise<number> {
    const { stopper, runtime } = this.#parts
    for (const { id, container, isKilled } of removals) {
      if (this.#interrupted.has(pod.metadata.uid ?? '')) break
      const { name } = container
      if (isKilled) await stopContainer(stopper, { pod, id, name, graceSeconds: 0, message: 'killing' })
      await runtime.removeContainer(id)
      this.#waitingOf(pod).delete(name)
    }
    return 0
  }

  async #sandbox(pod: Pod, runtimePod: RuntimePod, plan: PodPlan): Promise<Sandbox> {
    const { runtime, events, sandboxConfig, runtimeHandler, sandboxIps } = this.#parts
    const ready = readySandbox(runtimePod)
    if (!plan.createSandbox && ready) {
      const namespaces = await this.#parts.namespaces(pod)
      const config = sandboxConfig(pod, ready.metadata?.attempt ?? 0, namespaces)
      return { id: ready.id, config, namespaces, ips: runtimePod.ips }
    }
    try {
      const namespaces = await this.#parts.namespaces(pod)
      const config = sandboxConfig(pod, plan.attempt, namespaces)
      const id = await runtime.runSandbox(config, await runtimeHandler(pod))
      return { id, config, namespaces, ips: await sandboxIps(pod, id) }
    } catch (error) {
      const message = `Failed to create pod sandbox: ${(error as Error).message}`
      events.ofPod(pod, 'Warning', 'FailedCreatePodSandBox', message)
      throw new Error(message)
    }
  }

  /** Starts a container, or returns the time in ms that it has to wait. A failure is its waiting reason. */
  async #start(pod: Pod, container: Container, runtimePod: RuntimePod, sandbox: Sandbox): Promise<number | undefined> {
    const waiting = this.#waitingOf(pod)
    const key = `${pod.metadata.uid}/${container.name}/${containerHash(container)}`
    const last = newestContainer(runtimePod, container.name)
    const waitMs = last && hasExited(last) ? this.#restarts.remainingMs(key, endOf(last)) : 0
    if (waitMs > 0) {
      this.#backOff(pod, container, key)
      return waitMs
    }
    if (last && hasExited(last)) this.#restarts.next(key)
    const target = targetOf(container, runtimePod)
    await this.#removeUnstarted(runtimePod, container.name)
    if (this.#interrupted.has(pod.metadata.uid ?? '')) return undefined
    try {
      await startContainer(this.#parts.starter, {
        pod,
        container,
        sandboxId: sandbox.id,
        sandbox: sandbox.config,
        podIps: sandbox.ips,
        restartCount: await this.#restartCount(container, runtimePod, sandbox),
        namespaces: targetedNamespaces(sandbox.namespaces, target),
      })
      waiting.delete(container.name)
      return undefined
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      waiting.set(container.name, { reason: error.reason, message: error.message })
      return failedStartMs
    }
  }

  #restartCount({ name }: Container, runtimePod: RuntimePod, { config }: Sandbox): Promise<number> | number {
    const next = nextRestartCount(runtimePod, name)
    return next ?? this.#parts.firstRestartCount(config.logDirectory ?? '', name)
  }

  /**
   * Removes the instances of a container that were created and never started: the call of a kubelet that has ended may
   * start them still, beside the next instance.
   */
  async #removeUnstarted({ containers }: RuntimePod, name: string): Promise<void> {
    for (const { id, state, labels } of containers)
      if (state === ContainerState.CONTAINER_CREATED && containerNameOf(labels) === name)
        await this.#parts.runtime.removeContainer(id)
  }

  #backOff(pod: Pod, container: Container, key: string): void {
    const seconds = this.#restarts.delayMs(key) / 1000
    const delay = seconds >= 60 ? `${Math.floor(seconds / 60)}m${seconds % 60}s` : `${seconds}s`
    const { name, namespace, uid } = pod.metadata
    const podText = `${name}_${namespace}(${uid})`
    this.#waitingOf(pod).set(container.name, {
      reason: 'CrashLoopBackOff',
      message: `back-off ${delay} restarting failed container=${container.name} pod=${podText}`,
    })
    this.#parts.events.ofContainer(
      pod,
      container,
      'Warning',
      'BackOff',
      `Back-off restarting failed container ${container.name} in pod ${podText}`,
    )
  }

  /** Ends all containers, then the sandboxes. */
  async #killPod(pod: Pod, runtimePod: RuntimePod, graceSeconds: number): Promise<void> {
    const { stopper, runtime } = this.#parts
    await stopContainers(stopper, pod, runtimePod.containers.filter(isRunning), graceSeconds)
    await Promise.all(runtimePod.sandboxes.map(({ id }) => runtime.stopSandbox(id)))
  }
}

interface Sandbox {
  readonly id: string
  readonly config: SandboxConfig
  readonly namespaces: NamespaceOptions
  readonly ips: readonly string[]
}

/** The delay in ms after a resize that has failed. */
const failedResizeMs = 10_000
/** The delay in ms after a container that could not be started. */
const failedStartMs = 10_000

const endOf = ({ finishedAt }: ContainerStatus): number => Number(finishedAt / 1_000_000n)

/** The ID of the container that an ephemeral container debugs. */
function targetOf(container: Container, runtimePod: RuntimePod): string | undefined {
  const { targetContainerName } = container as { readonly targetContainerName?: string }
  return targetContainerName ? newestContainer(runtimePod, targetContainerName)?.id : undefined
}
