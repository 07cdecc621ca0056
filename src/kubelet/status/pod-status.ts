/** The status of a pod, from its spec, the runtime's state, probes and why containers wait. A pure function. */
import type { ContainerStatus as RuntimeStatus } from '#protobuf/cri-runtime_pb.js'
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { CgroupValues } from '../../node/cgroups/tree/cgroup-values.ts'
import { podConditions } from '../../node/pods/conditions.ts'
import type { PodCondition } from '../../node/pods/pod-types.ts'
import type { PodResources } from '../allocation/pod-resources.ts'
import { isResizeCondition } from '../allocation/resize-conditions.ts'
import { containerNameOf } from '../cri/labels.ts'
import {
  type Container,
  type ContainerStatus,
  isSidecar,
  isTerminal,
  type Pod,
  type PodStatus,
  specOf,
  statusOf,
} from '../pod-types.ts'
import type { ProbeResults } from '../pods/plan/plan.ts'
import { restartingCondition, shouldRestartAll } from '../pods/plan/restart-of-all.ts'
import { initRestartPolicyOf, restartPolicyOf, shouldRestart } from '../pods/plan/restart-policy.ts'
import { type RuntimePod, readySandbox, runningContainers } from '../pods/runtime-pod.ts'
import type { Termination, TerminationStatus } from '../workers/pod-worker.ts'
import { type ContainerFacts, containerStatus } from './container-status.ts'
import { withDisruption } from './disruption.ts'
import { withShortMessages } from './message-limit.ts'
import { podLevelResources } from './pod-level-resources.ts'
import { podPhase } from './pod-phase.ts'
import { restartingConditions } from './restarting-condition.ts'

export interface StatusFacts {
  readonly runtimePod: RuntimePod
  readonly waiting: ReadonlyMap<string, { readonly reason: string; readonly message: string }>
  readonly probes: ProbeResults & { isReady(containerId: string): boolean }
  readonly hostIps: readonly string[]
  /** The prefix of container IDs: `containerd`. */
  readonly runtimeName: string
  readonly messageOf: (instance: RuntimeStatus) => string | undefined
  /** The resources that the pod's cgroups have been given; undefined if they are not known. */
  readonly actual: PodResources | undefined
  /** The values of the pod's cgroup, if it has one. */
  readonly cgroup: CgroupValues | undefined
  /** The conditions of its resize. */
  readonly resizeConditions: readonly PodCondition[]
  readonly termination?: Termination
  /** Ms since 1970. */
  readonly now: number
}

export function podStatus(pod: Pod, facts: StatusFacts): PodStatus {
  const before = statusOf(pod)
  const { initContainers = [], containers, ephemeralContainers = [] } = specOf(pod)
  const { runtimePod, termination, hostIps, now } = facts
  const debugging = ephemeralContainers as readonly Container[]
  const count = initContainers.length + containers.length + debugging.length
  const isRestartingAll = termination === undefined && shouldRestartAll(pod, runtimePod)
  const statuses = (all: readonly Container[], known: readonly ContainerStatus[] | undefined): ContainerStatus[] =>
    withShortMessages(statusesOf(pod, all, known, { ...facts, isRestartingAll }), count)
  const init = statuses(initContainers, before.initContainerStatuses)
  const main = byName(statuses(containers, before.containerStatuses))
  const ephemeral = byName(statuses(debugging, before.ephemeralContainerStatuses))
  const end = endOf(runtimePod, termination)
  const isOver = termination !== undefined && runningContainers(runtimePod).length === 0
  const phase = phaseOf(pod, init, main, end, isOver)
  const ips = specOf(pod).hostNetwork ? hostIps : runtimePod.ips
  const podIps = ips.length > 0 ? ips : (before.podIPs ?? []).map(({ ip }) => ip ?? '')
  const status: PodStatus = {
    phase,
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    conditions: before.conditions,
    reason: end?.reason ?? before.reason,
    message: end?.message ?? before.message,
    hostIP: hostIps[0],
    hostIPs: hostIps.map((ip) => ({ ip })),
    ...(podIps.length > 0 && { podIP: podIps[0], podIPs: podIps.map((ip) => ({ ip })) }),
    startTime: before.startTime ?? timestamp(now),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: main,
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
    qosClass: before.qosClass,
    ...podLevelResources(pod, facts.cgroup),
  }
  // A pod that ends before its containers have started fails, but its conditions show what they wait for.
  const isUnstarted = isOver && !end && main.some(({ state }) => state?.waiting)
  const seenPhase = isUnstarted ? podPhase(pod, init, main) : phase
  const hasSandbox = readySandbox(runtimePod) !== undefined && podIps.length > 0
  const conditions = [
    ...podConditions(pod, { ...status, phase: seenPhase }, hasSandbox, now).filter(
      (one) => !isResizeCondition(one) && one.type !== restartingCondition,
    ),
    ...restartingConditions(pod, runtimePod, phase, now),
    ...(isTerminal(phase) ? [] : facts.resizeConditions),
  ]
  return { ...status, conditions: end?.isDisruption ? withDisruption(conditions, pod, end.message, now) : conditions }
}

/** The order of statuses, as upstream; those of init containers have the order of the spec. */
const byName = (all: readonly ContainerStatus[]): ContainerStatus[] =>
  all.toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** The reason for the end of a pod. It is reported when no container runs, since clients replace a failed pod. */
const endOf = (runtimePod: RuntimePod, termination: Termination | undefined): TerminationStatus | undefined =>
  runningContainers(runtimePod).length > 0 ? undefined : termination?.status

/** A pod that was terminated for a reason has failed; a phase that is final stays. */
function phaseOf(
  pod: Pod,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
  end: TerminationStatus | undefined,
  isOver: boolean,
): string {
  const { phase } = statusOf(pod)
  if (isTerminal(phase)) return phase!
  if (end) return 'Failed'
  const current = podPhase(pod, init, main)
  if (isTerminal(current) || !isOver) return current
  // Nothing of the pod will run again, whatever its restart policy is.
  return main.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed'
}

interface SharedFacts extends StatusFacts {
  /** True if all containers of the pod restart in place. */
  readonly isRestartingAll: boolean
}

function statusesOf(
  pod: Pod,
  containers: readonly Container[],
  before: readonly ContainerStatus[] | undefined,
  facts: SharedFacts,
): ContainerStatus[] {
  return containers.map((container) =>
    containerStatus(
      factsOf(
        pod,
        container,
        before?.find(({ name }) => name === container.name),
        facts,
      ),
    ),
  )
}

function factsOf(
  pod: Pod,
  container: Container,
  before: ContainerStatus | undefined,
  { runtimePod, waiting, probes, runtimeName, messageOf, termination, actual, isRestartingAll }: SharedFacts,
): ContainerFacts {
  const { initContainers = [], containers } = specOf(pod)
  const isInit = initContainers.includes(container)
  const instances = runtimePod.containers.filter(({ labels }) => containerNameOf(labels) === container.name)
  const [newest] = instances
  const policy = isInit ? initRestartPolicyOf(pod, container) : restartPolicyOf(pod, container)
  const isMain = containers.includes(container)
  const isEphemeral = !isInit && !isMain
  return {
    container,
    instances,
    before,
    waiting: waiting.get(container.name),
    initialReason: initContainers.length > 0 && !isEphemeral ? 'PodInitializing' : 'ContainerCreating',
    restarts:
      !termination &&
      !isEphemeral &&
      !isTerminal(statusOf(pod).phase) &&
      (newest && !isRestartingAll ? shouldRestart(container, policy, newest) : true),
    isRemoved: isRestartingAll && !isEphemeral && newest === undefined,
    isInit: isInit && !isSidecar(container),
    isEphemeral,
    isReady: newest !== undefined && probes.isStarted(newest.id) && probes.isReady(newest.id),
    isStarted: newest !== undefined && probes.isStarted(newest.id),
    runtimeName,
    messageOf,
    actual: actual?.containers[container.name],
  }
}
