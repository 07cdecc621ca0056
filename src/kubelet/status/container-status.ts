/** The status of one container in its pod's status, from what the runtime reports of its instances. */
import { ContainerState, type ContainerStatus as RuntimeStatus } from '#protobuf/cri-runtime_pb.js'
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { Requirements } from '../allocation/pod-resources.ts'
import { restartCountOf } from '../cri/labels.ts'
import type { Container, ContainerStatus } from '../pod-types.ts'
import { containerResources } from './container-resources.ts'

type State = NonNullable<ContainerStatus['state']>
type Terminated = NonNullable<State['terminated']>

export interface ContainerFacts {
  readonly container: Container
  /** Its instances in the runtime, newest first. */
  readonly instances: readonly RuntimeStatus[]
  /** The status before: it outlives instances that the runtime has removed. */
  readonly before: ContainerStatus | undefined
  /** Why it waits, if it does. */
  readonly waiting: { readonly reason: string; readonly message?: string } | undefined
  /** The reason of a container that has not been tried yet: `ContainerCreating` or `PodInitializing`. */
  readonly initialReason: string
  /** True if it will start again when it has ended. */
  readonly restarts: boolean
  /** True if it was removed for a restart of all containers of the pod. */
  readonly isRemoved: boolean
  /** The resources that its cgroup has been given. */
  readonly actual: Requirements | undefined
  /** True for an init container that is no sidecar: it is ready when it has succeeded. */
  readonly isInit: boolean
  /** True for an ephemeral container: it has no probes. */
  readonly isEphemeral: boolean
  readonly isReady: boolean
  readonly isStarted: boolean
  /** The prefix of IDs: `containerd`. */
  readonly runtimeName: string
  /** The message of a terminated container. */
  readonly messageOf: (instance: RuntimeStatus) => string | undefined
}

export function containerStatus(facts: ContainerFacts): ContainerStatus {
  const { container, instances, before } = facts
  const [newest] = instances
  const { state, lastState } = statesOf(facts)
  const isRunning = state.running !== undefined
  return {
    name: container.name,
    state,
    lastState,
    ready: isReady(state, facts),
    restartCount: restartCount(facts),
    image: newest?.image?.userSpecifiedImage || newest?.image?.image || before?.image || container.image || '',
    imageID: newest?.imageRef ?? before?.imageID ?? '',
    ...(newest ? { containerID: idOf(newest, facts) } : before?.containerID && { containerID: before.containerID }),
    ...(!facts.isEphemeral && { started: isRunning && facts.isStarted }),
    ...containerResources(container, newest, facts.actual, before),
    ...mountsOf(container),
    ...userOf(newest),
  }
}

/** It never decreases: the runtime may have forgotten earlier instances. */
function restartCount({ instances: [newest], before, isRemoved }: ContainerFacts): number {
  const known = before?.restartCount ?? 0
  if (!newest) return isRemoved && hasRun(before) ? known + 1 : known
  const count = restartCountOf(newest.annotations)
  const isNext = newest.state === ContainerState.CONTAINER_RUNNING && before?.state?.terminated !== undefined
  return isNext && known >= count ? known + 1 : Math.max(count, known)
}

const hasRun = (before: ContainerStatus | undefined): boolean =>
  before?.state?.running !== undefined || before?.state?.terminated !== undefined

const removed = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
}

function isReady({ running, terminated }: State, { isInit, isEphemeral, isReady }: ContainerFacts): boolean {
  if (isInit) return terminated?.exitCode === 0
  return running !== undefined && isReady && !isEphemeral
}

const idOf = ({ id }: RuntimeStatus, { runtimeName }: ContainerFacts): string => `${runtimeName}://${id}`

function statesOf(facts: ContainerFacts): { readonly state: State; readonly lastState: State } {
  const { instances, before, waiting, restarts } = facts
  const [newest, previous] = instances
  if (!newest) {
    if (facts.isRemoved && hasRun(before))
      return { state: { waiting: removed }, lastState: { terminated: { ...removed, exitCode: 137 } } }
    if (before?.state?.terminated && !restarts) return { state: before.state, lastState: before.lastState ?? {} }
    return { state: { waiting: waiting ?? { reason: facts.initialReason } }, lastState: lostState(facts) }
  }
  const earlier = previous ? { terminated: terminatedOf(previous, facts) } : earlierState(newest, facts)
  switch (newest.state) {
    case ContainerState.CONTAINER_RUNNING:
      return { state: { running: { startedAt: timeOf(newest.startedAt) } }, lastState: earlier }
    case ContainerState.CONTAINER_EXITED: {
      const terminated = terminatedOf(newest, facts)
      // It starts again: what it waits for is its state, and its end the last one.
      return restarts && waiting
        ? { state: { waiting }, lastState: { terminated } }
        : { state: { terminated }, lastState: earlier }
    }
    default:
      return { state: { waiting: waiting ?? { reason: facts.initialReason } }, lastState: earlier }
  }
}

/** The last state of a container whose earlier instances were removed. */
function earlierState(newest: RuntimeStatus, facts: ContainerFacts): State {
  const { before } = facts
  const ended = before?.containerID === idOf(newest, facts) ? undefined : before?.state?.terminated
  return ended ? { terminated: ended } : (before?.lastState ?? {})
}

/** The last state of a container that ran before and that the runtime no longer knows. */
function lostState({ before }: ContainerFacts): State {
  if (before?.state?.terminated) return { terminated: before.state.terminated }
  if (!before?.state?.running) return before?.lastState ?? {}
  return {
    terminated: {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container could not be located when the pod was deleted.  The container used to be Running',
      startedAt: null as never,
      finishedAt: null as never,
      ...(before.containerID && { containerID: before.containerID }),
    },
  }
}

function terminatedOf(instance: RuntimeStatus, facts: ContainerFacts): Terminated {
  const { exitCode, startedAt, finishedAt } = instance
  const message = facts.messageOf(instance) || instance.message
  const reason = instance.reason || (exitCode === 0 ? 'Completed' : 'Error')
  return {
    exitCode,
    reason,
    ...(message && { message }),
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(finishedAt),
    containerID: idOf(instance, facts),
  }
}

/** 1970 for a container that never started, as upstream. */
const timeOf = (nanoseconds: bigint): string => timestamp(Number(nanoseconds / 1_000_000n))

function mountsOf({ volumeMounts = [] }: Container): Partial<ContainerStatus> {
  if (volumeMounts.length === 0) return {}
  return {
    volumeMounts: volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
      name,
      mountPath,
      ...(readOnly && { readOnly, recursiveReadOnly: recursiveReadOnly ?? 'Disabled' }),
    })),
  }
}

function userOf(newest: RuntimeStatus | undefined): Partial<ContainerStatus> {
  const linux = newest?.user?.linux
  if (!linux) return {}
  const { uid, gid, supplementalGroups } = linux
  return { user: { linux: { uid: Number(uid), gid: Number(gid), supplementalGroups: supplementalGroups.map(Number) } } }
}
