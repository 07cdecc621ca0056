/**
 * The lifecycle of a pod on its node, as a pure function: its status at a time, the events to record, and the time of
 * the next change.
 */
import type { Pod } from '../../../client/kinds.ts'
import { timestamp } from '../../../machinery/values/timestamp.ts'
import { isComplete, podConditions } from '../../../node/pods/conditions.ts'
import {
  type Container,
  type ContainerStatus,
  isSidecar,
  isTerminal,
  type PodEvent,
  type PodStatus,
  statusOf,
} from '../../../node/pods/pod-types.ts'
import { type BehaviourDefaults, behaviourOf } from '../behaviour.ts'
import { type ContainerContext, killing, stepContainer, stopped } from './container.ts'
import type { ContainerMemory, PodMemory } from './pod-memory.ts'

export interface NodeContext {
  readonly now: number
  /** The node's address. */
  readonly hostIP: string
  /** The pod's addresses; empty if there are none yet. */
  readonly podIPs: readonly string[]
  readonly defaults: BehaviourDefaults
  /** Called with errors in the pod's annotations. */
  readonly problem: (words: string) => void
}

export interface Advance {
  /** The same object if it is unchanged. */
  readonly status: PodStatus
  readonly memory: PodMemory
  readonly events: readonly PodEvent[]
  /** When something happens next, in ms since 1970. */
  readonly nextAt?: number
  /** True if a deleted pod has ended, so that its object can be deleted. */
  readonly canDelete?: boolean
}

const secondMs = 1000
const noMemory: PodMemory = new Map()
/** The key of the pod itself in its memory. */
const whole = ''

/** The pod at `now`. It must have been admitted to its node. */
export function advance(pod: Pod, remembered: PodMemory, surroundings: NodeContext): Advance {
  if (pod.metadata.deletionTimestamp) return terminate(pod, remembered, surroundings)
  const status = pod.status ?? {}
  if (isTerminal(status.phase)) return { status, memory: remembered, events: [] }
  const overdue = deadlineOf(pod, surroundings.now)
  if (overdue !== undefined && overdue <= surroundings.now) return exceedDeadline(pod, remembered, surroundings)
  return run(pod, remembered, surroundings, overdue)
}

function run(pod: Pod, remembered: PodMemory, surroundings: NodeContext, deadline: number | undefined): Advance {
  const { now } = surroundings
  const memory = new Map<string, ContainerMemory>()
  const events: PodEvent[] = []
  const times = deadline === undefined ? [] : [deadline]
  const before = pod.status ?? {}
  const hasSandbox = surroundings.podIPs.length > 0

  const step = (
    container: Container,
    kind: ContainerContext['kind'],
    statuses: readonly ContainerStatus[] | undefined,
    mayStart: boolean,
  ): ContainerStatus => {
    const context = contextOf(pod, container, kind, surroundings, mayStart && hasSandbox)
    const made = stepContainer(
      context,
      statuses?.find(({ name }) => name === container.name),
      remembered.get(container.name),
    )
    if (made.memory) memory.set(container.name, made.memory)
    events.push(...made.events)
    if (made.nextAt !== undefined) times.push(made.nextAt)
    return resized(made.status, container)
  }

  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {}
  let mayStart = true
  let hasFailed = false
  const initStatuses = initContainers.map((container) => {
    const status = step(container, isSidecar(container) ? 'sidecar' : 'init', before.initContainerStatuses, mayStart)
    if (mayStart && !isComplete(container, status)) mayStart = false
    hasFailed ||=
      !isSidecar(container) && status.state?.terminated !== undefined && status.state.terminated.exitCode !== 0
    return status
  })
  const mainStatuses = containers.map((container) => step(container, 'main', before.containerStatuses, mayStart))
  const ephemeralStatuses = ephemeralContainers.map((container) =>
    step(container, 'ephemeral', before.ephemeralContainerStatuses, true),
  )

  const haveEnded = hasFailed || mainStatuses.every(({ state }) => state?.terminated)
  const phase = hasFailed ? 'Failed' : phaseOf(mainStatuses)
  const statuses = {
    initContainerStatuses: initStatuses,
    containerStatuses: mainStatuses,
    ephemeralContainerStatuses: ephemeralStatuses.map(unprobed),
  }
  // After the end of the main containers, sidecars and ephemeral containers are stopped.
  const remaining = haveEnded ? stopAll(pod, statuses, surroundings) : statuses
  const status = written(pod, { ...started(pod, surroundings), phase }, remaining, hasSandbox, now)
  // Without pending changes the API's status is enough.
  const isAtRest = times.length === 0 && [...memory.values()].every(({ crashes }) => crashes === 0)
  return {
    status,
    memory: haveEnded || isAtRest ? noMemory : memory,
    events,
    ...(times.length > 0 && !haveEnded && { nextAt: Math.min(...times) }),
  }
}

/** The statuses after all containers were stopped. */
function stopAll(pod: Pod, statuses: Statuses, surroundings: NodeContext): Statuses {
  const all = containersOf(pod)
  return eachOf(statuses, (status) => {
    const container = all.find(({ name }) => name === status.name)
    if (!container) return status
    const context = contextOf(pod, container, kindOf(pod, container), surroundings, false)
    return stopped(context, status, context.behaviour.stopExitCode)
  })
}

const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]

type Statuses = Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses'>

const eachOf = (
  { initContainerStatuses, containerStatuses, ephemeralContainerStatuses }: Statuses,
  make: (status: ContainerStatus) => ContainerStatus,
): Statuses => ({
  initContainerStatuses: initContainerStatuses?.map(make),
  containerStatuses: containerStatuses?.map(make),
  ephemeralContainerStatuses: ephemeralContainerStatuses?.map(make),
})

/** Ephemeral containers are not probed. */
const unprobed = ({ started: _, ...status }: ContainerStatus): ContainerStatus => status

/** A deleted pod: its containers are stopped, and end in their time or after the grace period. */
function terminate(pod: Pod, remembered: PodMemory, surroundings: NodeContext): Advance {
  const { now } = surroundings
  const before = pod.status ?? {}
  const running = containersOf(pod).filter(({ name }) => statusOf(pod, name)?.state?.running)
  const begun = remembered.get(whole)
  const memory = new Map([...remembered, [whole, begun ?? { since: now, crashes: 0 }]])
  const contexts = new Map(
    running.map((container) => [
      container.name,
      contextOf(pod, container, kindOf(pod, container), surroundings, false),
    ]),
  )
  const events = begun ? [] : [...contexts.values()].map(killing)
  const since = begun?.since ?? now
  const graceMs =
    Number(pod.metadata.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30) * secondMs
  const times: number[] = []
  const end = (status: ContainerStatus): ContainerStatus => {
    const context = contexts.get(status.name)
    if (!context) return status
    const { stopMs, stopExitCode } = context.behaviour
    const at = since + Math.min(stopMs, graceMs)
    if (now >= at) return stopped(context, status, stopMs > graceMs ? killed : stopExitCode)
    times.push(at)
    return status
  }
  const statuses = eachOf(before, end)
  if (times.length > 0) {
    const status = written(pod, before, statuses, true, now)
    return { status, memory, events, nextAt: Math.min(...times) }
  }
  const phase = isTerminal(before.phase)
    ? before.phase
    : statuses.containerStatuses?.every(({ state }) => state?.terminated?.exitCode === 0)
      ? 'Succeeded'
      : 'Failed'
  return { status: written(pod, { ...before, phase }, statuses, false, now), memory, events, canDelete: true }
}

/** The exit code of SIGKILL. */
const killed = 137

const deadlineOf = ({ spec, status }: Pod, now: number): number | undefined =>
  spec?.activeDeadlineSeconds === undefined
    ? undefined
    : (status?.startTime ? Date.parse(status.startTime) : now) + Number(spec.activeDeadlineSeconds) * secondMs

function exceedDeadline(pod: Pod, memory: PodMemory, surroundings: NodeContext): Advance {
  const message = 'Pod was active on the node longer than the specified deadline'
  const status = failedStatus(
    pod,
    { ...pod.status, phase: 'Failed', reason: 'DeadlineExceeded', message },
    surroundings,
  )
  return { status, memory, events: [{ type: 'Normal', reason: 'DeadlineExceeded', message }] }
}

/** The pod after its eviction by the node. */
export function evictPod(pod: Pod, memory: PodMemory, message: string, surroundings: NodeContext): Advance {
  const before = pod.status ?? {}
  const { generation } = pod.metadata
  const disrupted = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    lastProbeTime: null as never,
    lastTransitionTime: timestamp(surroundings.now),
    ...(generation !== undefined && { observedGeneration: generation }),
  }
  const conditions = [...(before.conditions ?? []).filter(({ type }) => type !== disrupted.type), disrupted]
  const status = failedStatus(pod, { ...before, phase: 'Failed', reason: 'Evicted', message, conditions }, surroundings)
  const statuses = [
    ...(before.initContainerStatuses ?? []),
    ...(before.containerStatuses ?? []),
    ...(before.ephemeralContainerStatuses ?? []),
  ]
  const running = containersOf(pod).filter(({ name }) => statuses.find((one) => one.name === name)?.state?.running)
  const stopping = running.map((container) =>
    killing(contextOf(pod, container, kindOf(pod, container), surroundings, false)),
  )
  return { status, memory, events: [{ type: 'Warning', reason: 'Evicted', message }, ...stopping] }
}

/** The status of a failed pod whose containers end immediately. */
const failedStatus = (pod: Pod, failed: PodStatus, surroundings: NodeContext): PodStatus =>
  written(pod, failed, stopAll(pod, failed, surroundings), false, surroundings.now)

function contextOf(
  pod: Pod,
  container: Container,
  kind: ContainerContext['kind'],
  { now, defaults, problem }: NodeContext,
  mayStart: boolean,
): ContainerContext {
  const waiting = pod.spec?.initContainers?.length ? 'PodInitializing' : 'ContainerCreating'
  return {
    pod,
    container,
    kind,
    behaviour: behaviourOf(pod, container, kind, defaults, problem),
    mayStart,
    waiting,
    now,
  }
}

const kindOf = ({ spec }: Pod, container: Container): ContainerContext['kind'] =>
  spec?.initContainers?.includes(container)
    ? isSidecar(container)
      ? 'sidecar'
      : 'init'
    : spec?.containers.includes(container)
      ? 'main'
      : 'ephemeral'

/** Sets the start time and the addresses. */
function started({ status = {}, spec }: Pod, { now, hostIP, podIPs }: NodeContext): PodStatus {
  const addresses = spec?.hostNetwork ? [hostIP] : podIPs
  return {
    ...status,
    startTime: status.startTime ?? timestamp(now),
    hostIP,
    hostIPs: status.hostIPs ?? [{ ip: hostIP }],
    ...(addresses.length > 0 && {
      podIP: addresses[0],
      podIPs: status.podIPs?.length === addresses.length ? status.podIPs : addresses.map((ip) => ({ ip })),
    }),
  }
}

function phaseOf(statuses: readonly ContainerStatus[]): string {
  if (statuses.every(({ state }) => state?.terminated))
    return statuses.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed'
  return statuses.some(({ state, restartCount }) => state?.running || state?.terminated || restartCount > 0)
    ? 'Running'
    : 'Pending'
}

/** A resize takes effect immediately (KEP-1287). */
function resized(status: ContainerStatus, { resources }: Container): ContainerStatus {
  const { requests } = resources ?? {}
  if (!status.state?.running || !requests || JSON.stringify(status.allocatedResources) === JSON.stringify(requests))
    return status
  const { limits } = resources ?? {}
  return { ...status, allocatedResources: requests, resources: { ...(limits && { limits }), requests } }
}

function written(
  pod: Pod,
  status: PodStatus,
  { initContainerStatuses, containerStatuses, ephemeralContainerStatuses }: Statuses,
  hasSandbox: boolean,
  now: number,
): PodStatus {
  const { generation } = pod.metadata
  const next: PodStatus = {
    ...status,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(initContainerStatuses?.length && { initContainerStatuses }),
    ...(containerStatuses && { containerStatuses }),
    ...(ephemeralContainerStatuses?.length && { ephemeralContainerStatuses }),
  }
  next.conditions = podConditions(pod, next, hasSandbox && !isTerminal(next.phase), now)
  return next
}
