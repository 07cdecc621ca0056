/**
 * The plan for a pod that should run: which containers start and stop now, from its spec and the state of the runtime.
 * It is carried out by the pod's worker; the next plan sees the result.
 */
import { ContainerState, type ContainerStatus, PodSandboxState } from '#protobuf/cri-runtime_pb.js'
import type { PodResources } from '../../allocation/pod-resources.ts'
import { containerHash, hashOf } from '../../cri/labels.ts'
import { type Container, isSidecar, type Pod, specOf } from '../../pod-types.ts'
import { type PodResize, ResizePlan } from '../../resize/plan-resize.ts'
import { hasExited, isRunning, newestContainer, type RuntimePod } from '../runtime-pod.ts'
import { isReset, planRemovals, type Removal } from './restart-of-all.ts'
import { initRestartPolicyOf, restartPolicyOf, shouldRestart, shouldStart } from './restart-policy.ts'

/** Results of probes, by container ID; undefined as long as a probe has none. */
export interface ProbeResults {
  /** False if its liveness or startup probe has failed: the container is restarted. */
  isAlive(containerId: string): boolean
  /** True if it has no startup probe, or that has succeeded. */
  isStarted(containerId: string): boolean
}

/** A running container that ends, and the reason for its event and log. */
export interface Stop {
  readonly id: string
  readonly container: Container
  readonly message: string
  readonly reason?: 'LivenessProbe' | 'StartupProbe' | 'Resize'
}

export interface PodPlan {
  /** Ends everything of the pod first, its sandbox too. */
  readonly killPod: boolean
  /** Creates a sandbox; `attempt` counts them. */
  readonly createSandbox: boolean
  readonly attempt: number
  readonly stop: readonly Stop[]
  /** Containers that are removed, in order, before all containers start again. */
  readonly remove: readonly Removal[]
  /** Init containers and sidecars to start now, in order. */
  readonly startInit: readonly Container[]
  readonly startMain: readonly Container[]
  readonly startEphemeral: readonly Container[]
  /** Changes of the resources of running containers, before main containers start. */
  readonly resize?: PodResize | undefined
}

/** True if a plan changes nothing in the runtime. */
export const isEmptyPlan = (plan: PodPlan): boolean =>
  !plan.killPod &&
  !plan.createSandbox &&
  !plan.resize &&
  [plan.stop, plan.remove, plan.startInit, plan.startMain, plan.startEphemeral].every((list) => list.length === 0)

const nothing: PodPlan = {
  killPod: false,
  createSandbox: false,
  attempt: 0,
  stop: [],
  remove: [],
  startInit: [],
  startMain: [],
  startEphemeral: [],
}

export interface PlanFacts {
  readonly probes: ProbeResults
  /** The resources that the pod's cgroups have; undefined if they are not known. */
  readonly actual?: PodResources | undefined
  /** True if all containers restart in place. */
  readonly isRestartingAll?: boolean
}

export function planPod(pod: Pod, runtimePod: RuntimePod, { probes, actual, isRestartingAll }: PlanFacts): PodPlan {
  if (isRestartingAll && !isReset(pod, runtimePod)) return planRestartOfAll(pod, runtimePod)
  const resizes = new ResizePlan(pod, actual)
  const plan = planContainers(pod, runtimePod, probes, resizes)
  return plan.killPod ? plan : { ...plan, resize: resizes.resize }
}

/** A sandbox that has ended comes first. */
function planRestartOfAll(pod: Pod, runtimePod: RuntimePod): PodPlan {
  const change = sandboxChange(pod, runtimePod)
  if (change) return { ...nothing, killPod: true, createSandbox: true, attempt: change.attempt }
  return { ...nothing, remove: planRemovals(pod, runtimePod) }
}

function planContainers(pod: Pod, runtimePod: RuntimePod, probes: ProbeResults, resizes: ResizePlan): PodPlan {
  const change = sandboxChange(pod, runtimePod)
  if (change) return planNewSandbox(pod, runtimePod, change.attempt)
  const { ephemeralContainers = [], initContainers = [] } = specOf(pod)
  const startEphemeral = (ephemeralContainers as readonly Container[]).filter(
    ({ name }) => !newestContainer(runtimePod, name),
  )
  const init = planInit(pod, initContainers, runtimePod, probes, resizes)
  if (!init.isComplete)
    return { ...nothing, startEphemeral, stop: init.stop, startInit: init.start, killPod: init.hasFailed }
  return { ...planMain(pod, runtimePod, probes, init, resizes), startEphemeral }
}

/** Returns the number of the sandbox to create; undefined if the newest one works. */
function sandboxChange(pod: Pod, { sandboxes, ips }: RuntimePod): { readonly attempt: number } | undefined {
  const [newest] = sandboxes
  if (!newest) return { attempt: 0 }
  const ready = sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY)
  const attempt = (newest.metadata?.attempt ?? 0) + 1
  if (ready.length > 1 || newest.state !== PodSandboxState.SANDBOX_READY) return { attempt }
  const hasHostNetwork = (newest.linux?.namespaces?.options?.network ?? 0) === 2
  if (hasHostNetwork !== (specOf(pod).hostNetwork === true)) return { attempt }
  return !hasHostNetwork && ips.length === 0 ? { attempt } : undefined
}

/** The plan for a pod whose sandbox is missing or has ended: all of it starts again, unless it has done its work. */
function planNewSandbox(pod: Pod, runtimePod: RuntimePod, attempt: number): PodPlan {
  const { containers, initContainers = [] } = specOf(pod)
  const hasRun = attempt > 0 && runtimePod.containers.length > 0
  const mayRestart = [...containers, ...initContainers].some((one) => restartPolicyOf(pod, one) !== 'Never')
  if (hasRun && !mayRestart) return { ...nothing, killPod: true }
  const startMain = containers.filter((container) => {
    const status = newestContainer(runtimePod, container.name)
    return !status || !hasExited(status) || shouldRestart(container, restartPolicyOf(pod, container), status)
  })
  if (startMain.length === 0) return { ...nothing, killPod: true }
  const [first] = initContainers
  return {
    ...nothing,
    killPod: runtimePod.sandboxes.length > 0,
    createSandbox: true,
    attempt,
    ...(first ? { startInit: [first] } : { startMain }),
  }
}

interface InitPlan {
  /** True if the main containers may start. */
  readonly isComplete: boolean
  /** True if an init container has failed for good, so that the pod has. */
  readonly hasFailed: boolean
  readonly start: readonly Container[]
  readonly stop: readonly Stop[]
}

/** Init containers run one after the other; a sidecar among them continues once it has started. */
function planInit(
  pod: Pod,
  initContainers: readonly Container[],
  runtimePod: RuntimePod,
  probes: ProbeResults,
  resizes: ResizePlan,
): InitPlan {
  const start: Container[] = []
  const stop: Stop[] = []
  // Once a main container was created, init containers are over, even if the runtime has removed them.
  const hasStartedMain = specOf(pod).containers.some(({ name }) => newestContainer(runtimePod, name))
  const done = (isComplete: boolean, hasFailed = false): InitPlan => ({ isComplete, hasFailed, start, stop })
  for (const container of initContainers) {
    const status = newestContainer(runtimePod, container.name)
    if (isSidecar(container)) {
      const action = sidecarAction(container, status, probes, resizes)
      if (action === 'start') start.push(container)
      else if (action) {
        stop.push(action)
        start.push(container)
      }
      if (!hasStartedMain && (action || !status || !probes.isStarted(status.id))) return done(false)
      continue
    }
    if (hasStartedMain) continue
    if (!status) {
      start.push(container)
      return done(false)
    }
    if (isRunning(status)) {
      resizes.add(container, status.id)
      return done(false)
    }
    if (hasExited(status) && status.exitCode === 0) continue
    if (hasExited(status) && !shouldRestart(container, initRestartPolicyOf(pod, container), status))
      return done(false, true)
    start.push(container)
    return done(false)
  }
  return done(true)
}

function sidecarAction(
  container: Container,
  status: ContainerStatus | undefined,
  probes: ProbeResults,
  resizes: ResizePlan,
): Stop | 'start' | undefined {
  if (!status || !isRunning(status)) return 'start'
  return stopOf(container, `Init container ${container.name}`, status, probes, resizes)
}

/** The reason to end a running container, which `subject` names in the event; undefined if it continues. */
function stopOf(
  container: Container,
  subject: string,
  status: ContainerStatus,
  probes: ProbeResults,
  resizes: ResizePlan,
): Stop | undefined {
  const { id } = status
  if (hashOf(status.annotations) !== '' && hashOf(status.annotations) !== containerHash(container))
    return { id, container, message: `${subject} definition changed` }
  if (!probes.isAlive(id)) {
    const isStartup = !probes.isStarted(id)
    return {
      id,
      container,
      reason: isStartup ? 'StartupProbe' : 'LivenessProbe',
      message: `${subject} failed ${isStartup ? 'startup' : 'liveness'} probe`,
    }
  }
  return resizes.add(container, id)
    ? { id, container, reason: 'Resize', message: `Container ${container.name} resize requires restart` }
    : undefined
}

function planMain(
  pod: Pod,
  runtimePod: RuntimePod,
  probes: ProbeResults,
  init: InitPlan,
  resizes: ResizePlan,
): PodPlan {
  const stop = [...init.stop]
  const startMain: Container[] = []
  let hasActive = false
  for (const container of specOf(pod).containers) {
    const status = newestContainer(runtimePod, container.name)
    if (!status || !isRunning(status)) {
      if (!shouldStart(pod, container, runtimePod)) continue
      // A container in an unknown state may still run.
      if (status?.state === ContainerState.CONTAINER_UNKNOWN)
        stop.push({
          id: status.id,
          container,
          message: `Container is in ${JSON.stringify('unknown')} state, try killing it before restart`,
        })
      startMain.push(container)
      continue
    }
    const reason = stopOf(container, `Container ${container.name}`, status, probes, resizes)
    if (!reason) {
      hasActive = true
      continue
    }
    const isResize = reason.reason === 'Resize'
    const restarts = restartPolicyOf(pod, container) !== 'Never' || reason.reason === undefined || isResize
    stop.push(restarts && !isResize ? { ...reason, message: `${reason.message}, will be restarted` } : reason)
    if (restarts) startMain.push(container)
  }
  if (!hasActive && startMain.length === 0) return { ...nothing, killPod: true }
  return { ...nothing, stop, startInit: init.start, startMain }
}
