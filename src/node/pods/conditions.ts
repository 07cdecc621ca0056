/** The conditions that a kubelet writes for a pod, in its order and with its messages. */
import type { Pod } from '../../client/kinds.ts'
import { timestamp } from '../../machinery/values/timestamp.ts'
import { type Container, type ContainerStatus, isSidecar, type PodCondition, type PodStatus } from './pod-types.ts'

interface ConditionState {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

const kubeletConditions: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'AllContainersRestarting',
  'PodResizePending',
  'PodResizeInProgress',
])

/** True for a condition that only kubelets write after the pod is scheduled, and for one that a kubelet has written. */
export const isKubeletCondition = ({ type, reason }: PodCondition): boolean =>
  kubeletConditions.has(type) || (type === 'DisruptionTarget' && reason === 'TerminationByKubelet')

/** All conditions for this status; those of others are retained. Unchanged conditions are the same objects. */
export function podConditions(pod: Pod, status: PodStatus, hasSandbox: boolean, now: number): PodCondition[] {
  const before = status.conditions ?? []
  const containersReady = containersReadyOf(pod, status)
  const current: ConditionState[] = [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    initializedOf(pod, status),
    readyOf(pod, before, containersReady),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
  ]
  const own = current.map((one) => conditionOf(one, before, pod.metadata.generation, now))
  return [...own, ...before.filter(({ type }) => !current.some((one) => one.type === type))]
}

function conditionOf(
  current: ConditionState,
  before: readonly PodCondition[],
  generation: number | undefined,
  now: number,
): PodCondition {
  const last = before.find(({ type }) => type === current.type)
  // The scheduler has set it, and knows the time.
  if (last && current.type === 'PodScheduled' && last.status === 'True')
    return last.observedGeneration === generation ? last : { ...last, observedGeneration: generation }
  if (
    last &&
    last.status === current.status &&
    last.reason === current.reason &&
    last.message === current.message &&
    last.observedGeneration === generation
  )
    return last
  return {
    ...current,
    lastProbeTime: null as never,
    lastTransitionTime: last?.status === current.status ? last.lastTransitionTime : timestamp(now),
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

const names = (all: readonly string[]): string => `[${all.join(' ')}]`

function containersReadyOf(
  { spec }: Pod,
  { phase, containerStatuses, initContainerStatuses }: PodStatus,
): ConditionState {
  const type = 'ContainersReady'
  if (!containerStatuses)
    return {
      type,
      status: 'False',
      ...(phase === 'Failed' ? { reason: 'PodFailed' } : { reason: 'UnknownContainerStatuses' }),
    }
  if (phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' }
  const all = [...(initContainerStatuses ?? []), ...containerStatuses]
  const counted = [...(spec?.initContainers ?? []).filter(isSidecar), ...(spec?.containers ?? [])]
  const unready = counted.filter(({ name }) => !all.find((one) => one.name === name)?.ready).map(({ name }) => name)
  if (unready.length === 0) return { type, status: 'True' }
  return {
    type,
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: ${names(unready)}`,
  }
}

function readyOf({ spec }: Pod, conditions: readonly PodCondition[], containersReady: ConditionState): ConditionState {
  const type = 'Ready'
  if (containersReady.status !== 'True') return { ...containersReady, type }
  const missing = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = conditions.find((one) => one.type === conditionType)
    if (!found) return `corresponding condition of pod readiness gate ${JSON.stringify(conditionType)} does not exist.`
    return found.status === 'True'
      ? []
      : `the status of pod readiness gate ${JSON.stringify(conditionType)} is not "True", but ${found.status}`
  })
  return missing.length === 0
    ? { type, status: 'True' }
    : { type, status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') }
}

function initializedOf(
  { spec }: Pod,
  { phase, containerStatuses = [], initContainerStatuses }: PodStatus,
): ConditionState {
  const type = 'Initialized'
  const initContainers = spec?.initContainers ?? []
  if (initContainers.length > 0 && !initContainerStatuses)
    return { type, status: 'False', reason: 'UnknownContainerStatuses' }
  if (phase === 'Succeeded') return { type, status: 'True', reason: 'PodCompleted' }
  if (containerStatuses.some(hasStarted)) return { type, status: 'True' }
  const incomplete = initContainers.filter(
    (container) =>
      !isComplete(
        container,
        initContainerStatuses?.find(({ name }) => name === container.name),
      ),
  )
  if (incomplete.length === 0) return { type, status: 'True' }
  const message = `containers with incomplete status: ${names(incomplete.map(({ name }) => name))}`
  return { type, status: 'False', reason: 'ContainersNotInitialized', message }
}

const hasStarted = ({ state, restartCount }: ContainerStatus): boolean =>
  Boolean(state?.running || state?.terminated || restartCount > 0)

/** Returns true if the containers after this one may start. */
export const isComplete = (container: Container, status: ContainerStatus | undefined): boolean =>
  isSidecar(container) ? status?.started === true : status?.state?.terminated?.exitCode === 0
