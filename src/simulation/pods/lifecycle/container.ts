/**
 * The lifecycle of one container: waiting, running, terminated, and restarted according to its restart policy. A pure
 * function of its state and the time.
 */
import type { Pod } from '../../../client/kinds.ts'
import { timestamp } from '../../../machinery/values/timestamp.ts'
import {
  type Container,
  type ContainerKind,
  type ContainerStatus,
  type PodEvent,
  statusOf,
  type Terminated,
} from '../../../node/pods/pod-types.ts'
import { hexOf } from '../../nodes/node-object.ts'
import type { Behaviour } from '../behaviour.ts'
import type { ContainerMemory } from './pod-memory.ts'

export interface ContainerContext {
  readonly pod: Pod
  readonly container: Container
  readonly kind: ContainerKind
  readonly behaviour: Behaviour
  /** True if the containers before it are complete. */
  readonly mayStart: boolean
  /** The reason while it waits only for its turn. */
  readonly waiting: 'ContainerCreating' | 'PodInitializing'
  readonly now: number
}

export interface ContainerStep {
  readonly status: ContainerStatus
  readonly memory: ContainerMemory | undefined
  readonly events: readonly PodEvent[]
  /** When something happens next, in ms since 1970. Default: nothing. */
  readonly nextAt?: number
}

/** A kubelet's maximum back-off, and the run time after which it is reset. In ms. */
const maxBackOffMs = 300_000
const backOffResetMs = 600_000

/** The container at `now`, given its status `before`. */
export function stepContainer(
  context: ContainerContext,
  before: ContainerStatus | undefined,
  remembered: ContainerMemory | undefined,
): ContainerStep {
  const { behaviour, now } = context
  const events: PodEvent[] = []
  let status = before ?? waitingStatus(context)
  let memory = remembered ?? recoverMemory(before, now)
  for (;;) {
    const { state = {} } = status
    if (state.running) {
      const endsAt = behaviour.runMs === undefined ? undefined : memory!.since + behaviour.runMs
      if (endsAt === undefined || now < endsAt) return runningStep(context, status, memory!, events, endsAt)
      status = ended(context, status, {
        exitCode: behaviour.exitCode,
        reason: behaviour.exitReason ?? reasonOf(behaviour.exitCode),
      })
      memory = { since: now, crashes: now - memory!.since >= backOffResetMs ? 0 : memory!.crashes }
    } else if (state.terminated) {
      if (!restarts(context, state.terminated)) return { status, memory: undefined, events }
      memory ??= { since: now, crashes: status.restartCount }
      if (memory.crashes === 0) {
        ;({ status, memory } = started(
          context,
          { ...status, lastState: { terminated: state.terminated } },
          memory,
          status.restartCount + 1,
          events,
        ))
      } else {
        status = backOff(context, status, state.terminated, memory.crashes, events)
      }
    } else if (state.waiting?.reason === 'CrashLoopBackOff') {
      memory ??= { since: now, crashes: Math.max(1, status.restartCount) }
      const at = memory.since + backOffMs(behaviour, memory.crashes)
      if (now < at) return { status, memory, events, nextAt: at }
      ;({ status, memory } = started(context, status, memory, status.restartCount + 1, events))
    } else {
      if (!context.mayStart) return { status: waitingStatus(context), memory: undefined, events }
      if (behaviour.pullFails) return { status: pullFailed(context, status, events), memory: undefined, events }
      if (!memory) {
        memory = { since: now, crashes: 0 }
        if (isPulled(context))
          events.push(event(context, 'Normal', 'Pulling', `Pulling image ${JSON.stringify(context.container.image)}`))
      }
      const at = memory.since + behaviour.pullMs + behaviour.startMs
      if (now < at) return { status: waitingStatus(context), memory, events, nextAt: at }
      ;({ status, memory } = started(context, status, memory, 0, events))
    }
  }
}

/** The status after the container was stopped. */
export function stopped(context: ContainerContext, status: ContainerStatus, exitCode: number): ContainerStatus {
  return status.state?.running ? ended(context, status, { exitCode, reason: reasonOf(exitCode) }) : status
}

export const killing = (context: ContainerContext): PodEvent =>
  event(context, 'Normal', 'Killing', `Stopping container ${context.container.name}`)

const reasonOf = (exitCode: number): string => (exitCode === 0 ? 'Completed' : 'Error')

/** Recovers the memory of an earlier process, with the precision of the API's times. */
function recoverMemory(status: ContainerStatus | undefined, now: number): ContainerMemory | undefined {
  const { running, terminated } = status?.state ?? {}
  const time = running?.startedAt ?? terminated?.finishedAt
  return time === undefined ? undefined : { since: Math.min(now, Date.parse(time)), crashes: status?.restartCount ?? 0 }
}

function runningStep(
  context: ContainerContext,
  status: ContainerStatus,
  memory: ContainerMemory,
  events: PodEvent[],
  endsAt: number | undefined,
): ContainerStep {
  const { behaviour, now, kind } = context
  const startedAt = memory.since + behaviour.startupMs
  const readyAt = behaviour.readyMs === undefined ? undefined : memory.since + behaviour.readyMs
  const isStarted = now >= startedAt
  // Init containers are ready after their end, ephemeral ones never.
  const isProbed = kind === 'main' || kind === 'sidecar'
  const isReady = isProbed && readyAt !== undefined && now >= readyAt
  const times = [isStarted ? undefined : startedAt, isReady || !isProbed ? undefined : readyAt, endsAt].filter(
    (time) => time !== undefined,
  )
  const same = status.started === isStarted && status.ready === isReady
  return {
    status: same ? status : { ...status, started: isStarted, ready: isReady },
    memory,
    events,
    ...(times.length > 0 && { nextAt: Math.min(...times) }),
  }
}

function waitingStatus({ pod, container, waiting }: ContainerContext): ContainerStatus {
  const before = statusOf(pod, container.name)
  if (before?.state?.waiting?.reason === waiting) return before
  return {
    name: container.name,
    state: { waiting: { reason: waiting } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: container.image ?? '',
    imageID: '',
    started: false,
  }
}

/** Images without a tag or with `latest` are pulled each time (the API server sets the policy). */
const isPulled = ({ container, behaviour }: ContainerContext): boolean =>
  container.imagePullPolicy === 'Always' || behaviour.pullMs > 0

function started(
  context: ContainerContext,
  status: ContainerStatus,
  memory: ContainerMemory,
  restartCount: number,
  events: PodEvent[],
): { readonly status: ContainerStatus; readonly memory: ContainerMemory } {
  const { pod, container, behaviour, now } = context
  const image = container.image ?? ''
  const took = `${Math.round(behaviour.pullMs)}ms`
  if (restartCount > 0 && isPulled(context))
    events.push(event(context, 'Normal', 'Pulling', `Pulling image ${JSON.stringify(image)}`))
  const pulled = isPulled(context)
    ? `Successfully pulled image ${JSON.stringify(image)} in ${took} (${took} including waiting). Image size: 0 bytes.`
    : `Container image ${JSON.stringify(image)} already present on machine and can be accessed by the pod`
  events.push(
    event(context, 'Normal', 'Pulled', pulled),
    event(context, 'Normal', 'Created', 'Container created'),
    event(context, 'Normal', 'Started', 'Container started'),
  )
  const { requests, limits } = container.resources ?? {}
  return {
    memory: { since: now, crashes: restartCount === 0 ? 0 : memory.crashes + 1 },
    status: {
      name: container.name,
      state: { running: { startedAt: timestamp(now) } },
      lastState: status.state?.terminated ? { terminated: status.state.terminated } : (status.lastState ?? {}),
      ready: false,
      started: false,
      restartCount,
      image,
      imageID: image && `simulated-image://${image}`,
      containerID: containerId(pod, container.name, restartCount),
      ...(requests && { allocatedResources: requests }),
      ...((requests || limits) && { resources: { ...(limits && { limits }), ...(requests && { requests }) } }),
    },
  }
}

/** A unique id of 64 digits. */
const containerId = ({ metadata: { uid = '' } }: Pod, name: string, restartCount: number): string =>
  `simulated://${uid.replaceAll('-', '')}${hexOf(`${name} ${restartCount}`, 32)}`

function ended(
  { now, kind }: ContainerContext,
  status: ContainerStatus,
  { exitCode, reason }: { readonly exitCode: number; readonly reason: string },
): ContainerStatus {
  const startedAt = status.state?.running?.startedAt
  return {
    ...status,
    state: { terminated: { exitCode, reason, startedAt, finishedAt: timestamp(now), containerID: status.containerID } },
    ready: kind === 'init' && exitCode === 0,
    started: false,
  }
}

function restarts({ pod, container, kind }: ContainerContext, { exitCode }: Terminated): boolean {
  const policy = pod.spec?.restartPolicy ?? 'Always'
  if (kind === 'sidecar') return true
  if (kind === 'ephemeral') return false
  if (kind === 'init') return exitCode !== 0 && policy !== 'Never'
  const own = container.restartPolicy ?? policy
  return own === 'Always' || (own === 'OnFailure' && exitCode !== 0)
}

const backOffMs = ({ backOffMs: first }: Behaviour, crashes: number): number =>
  Math.min(first * 2 ** (crashes - 1), maxBackOffMs)

function backOff(
  context: ContainerContext,
  status: ContainerStatus,
  last: Terminated,
  crashes: number,
  events: PodEvent[],
): ContainerStatus {
  const { pod, container, behaviour } = context
  const { name, namespace, uid } = pod.metadata
  const where = `container=${container.name} pod=${name}_${namespace}(${uid})`
  const seconds = Math.round(backOffMs(behaviour, crashes) / 1000)
  const pause = seconds >= 60 ? `${Math.floor(seconds / 60)}m${seconds % 60}s` : `${seconds}s`
  const message = `back-off ${pause} restarting failed ${where}`
  events.push(
    event(
      context,
      'Warning',
      'BackOff',
      `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`,
    ),
  )
  return {
    ...status,
    state: { waiting: { reason: 'CrashLoopBackOff', message } },
    lastState: { terminated: last },
    ready: false,
    started: false,
  }
}

function pullFailed(context: ContainerContext, status: ContainerStatus, events: PodEvent[]): ContainerStatus {
  if (status.state?.waiting?.reason === 'ImagePullBackOff') return status
  const image = JSON.stringify(context.container.image)
  const why = `failed to pull and unpack image ${image}: simulated by an annotation of the pod`
  events.push(
    event(context, 'Normal', 'Pulling', `Pulling image ${image}`),
    event(context, 'Warning', 'Failed', `Failed to pull image ${image}: ${why}`),
    event(context, 'Warning', 'Failed', 'Error: ErrImagePull'),
    event(context, 'Normal', 'BackOff', `Back-off pulling image ${image}`),
    event(context, 'Warning', 'Failed', 'Error: ImagePullBackOff'),
  )
  return {
    ...waitingStatus(context),
    state: {
      waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image ${image}: ErrImagePull: ${why}` },
    },
  }
}

const listOf = {
  main: 'containers',
  init: 'initContainers',
  sidecar: 'initContainers',
  ephemeral: 'ephemeralContainers',
} as const satisfies Record<ContainerKind, string>

function event(
  { container, kind }: ContainerContext,
  type: PodEvent['type'],
  reason: string,
  message: string,
): PodEvent {
  return { type, reason, message, fieldPath: `spec.${listOf[kind]}{${container.name}}` }
}
