/** Columns of `kubectl get pods`. STATUS, READY and RESTARTS are computed from the container statuses once per pod. */
import { age, type Cell, column, name, type RowCondition, wide } from '../../resource.ts'
import { isSidecar, type Pod } from './model.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

interface Summary {
  readonly ready: number
  readonly total: number
  readonly reason: string
  readonly restarts: number
  readonly lastRestart: string | undefined
}

const later = (a: string | undefined, b: string | null | undefined): string | undefined =>
  b && (!a || Date.parse(b) > Date.parse(a)) ? b : a
const hasCondition = (pod: Pod, type: string): boolean =>
  pod.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
const exitText = ({ signal, exitCode }: { signal?: number; exitCode: number }): string =>
  signal ? `Signal:${signal}` : `ExitCode:${exitCode}`

function isSchedulingGated({ status }: Pod): boolean {
  return (
    status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated') ?? false
  )
}

/** Returns the STATUS of a pod whose init container is not done, or undefined if it is. */
function initReason(
  { state, started }: ContainerStatus,
  sidecar: boolean,
  i: number,
  count: number,
): string | undefined {
  if (state?.terminated?.exitCode === 0 || (sidecar && started)) return undefined
  if (state?.terminated) return `Init:${state.terminated.reason || exitText(state.terminated)}`
  const waiting = state?.waiting?.reason
  return waiting && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${i}/${count}`
}

/** Computes a pod's STATUS, READY and RESTARTS. */
function summarize(pod: Pod): Summary {
  const { spec, status } = pod
  const inits = spec?.initContainers ?? []
  const sidecars = new Set(inits.filter(isSidecar).map((container) => container.name))
  let reason = isSchedulingGated(pod) ? 'SchedulingGated' : status?.reason || (status?.phase ?? '')
  let ready = 0
  let restarts = 0
  let lastRestart: string | undefined
  let sidecarRestarts = 0
  let lastSidecarRestart: string | undefined
  let initializing = false
  for (const [i, container] of (status?.initContainerStatuses ?? []).entries()) {
    const sidecar = sidecars.has(container.name)
    const ended = container.lastState?.terminated?.finishedAt
    restarts += container.restartCount
    lastRestart = later(lastRestart, ended)
    if (sidecar) {
      sidecarRestarts += container.restartCount
      lastSidecarRestart = later(lastSidecarRestart, ended)
    }
    const initStatus = initReason(container, sidecar, i, inits.length)
    if (initStatus === undefined) {
      if (sidecar && container.started && container.ready) ready++
      continue
    }
    reason = initStatus
    initializing = true
    break
  }
  if (!initializing || hasCondition(pod, 'Initialized')) {
    restarts = sidecarRestarts
    lastRestart = lastSidecarRestart
    let running = false
    // In reverse order, so that the first container determines the reason.
    for (const container of (status?.containerStatuses ?? []).toReversed()) {
      const { state } = container
      restarts += container.restartCount
      lastRestart = later(lastRestart, container.lastState?.terminated?.finishedAt)
      if (state?.waiting?.reason) reason = state.waiting.reason
      else if (state?.terminated) reason = state.terminated.reason || exitText(state.terminated)
      else if (container.ready && state?.running) {
        running = true
        ready++
      }
    }
    if (reason === 'Completed' && running) reason = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
  }
  if (pod.metadata.deletionTimestamp) {
    if (status?.reason === 'NodeLost') reason = 'Unknown'
    else if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') reason = 'Terminating'
  }
  return { ready, total: (spec?.containers?.length ?? 0) + sidecars.size, reason, restarts, lastRestart }
}

const summaries = new WeakMap<Pod, Summary>()

function summary(pod: Pod): Summary {
  let known = summaries.get(pod)
  if (!known) {
    known = summarize(pod)
    summaries.set(pod, known)
  }
  return known
}

function restartsCell(pod: Pod): Cell {
  const { restarts, lastRestart } = summary(pod)
  return restarts === 0 || !lastRestart
    ? `${restarts}`
    : { since: lastRestart, prefix: `${restarts} (`, suffix: ' ago)' }
}

function gatesCell({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  // The first of several conditions of a type counts.
  const conditions = new Map(status?.conditions?.toReversed().map((condition) => [condition.type, condition.status]))
  const open = gates.filter((gate) => conditions.get(gate.conditionType) === 'True')
  return `${open.length}/${gates.length}`
}

export const podColumns = [
  name,
  column<Pod>('Ready', (pod) => `${summary(pod).ready}/${summary(pod).total}`, {
    description: 'Ready containers, of all containers.',
  }),
  column<Pod>('Status', (pod) => summary(pod).reason, {
    description: 'The state of the pod and its containers, in one word.',
  }),
  column<Pod>('Restarts', restartsCell, {
    description: 'The number of container restarts, and the time of the last one.',
  }),
  age,
  wide<Pod>('IP', ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || '<none>', {
    description: 'The address of the pod.',
  }),
  wide<Pod>('Node', ({ spec }) => spec?.nodeName || '<none>', { description: 'The node that the pod is bound to.' }),
  wide<Pod>('Nominated Node', ({ status }) => status?.nominatedNodeName || '<none>', {
    description: 'The node on which the scheduler preempts pods for this one.',
  }),
  wide<Pod>('Readiness Gates', gatesCell, { description: 'Passed readiness gates, of all readiness gates.' }),
]

const succeeded: readonly RowCondition[] = [
  { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
]
const failed: readonly RowCondition[] = [
  { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
]
const unfinished: readonly RowCondition[] = []

/** Returns the row conditions: finished pods have one. */
export const podRowConditions = ({ status }: Pod): readonly RowCondition[] =>
  status?.phase === 'Succeeded' ? succeeded : status?.phase === 'Failed' ? failed : unfinished
