/**
 * What `kubectl get pods` shows. STATUS, READY and RESTARTS come from the states of the containers, read once per pod.
 */
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
const conditionIs = (pod: Pod, type: string): boolean =>
  pod.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
const ending = ({ signal, exitCode }: { signal?: number; exitCode: number }): string =>
  signal ? `Signal:${signal}` : `ExitCode:${exitCode}`

function isSchedulingGated({ status }: Pod): boolean {
  return (
    status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated') ?? false
  )
}

/** Why an init container holds the pod back; undefined if it does not. */
function initReason(
  { state, started }: ContainerStatus,
  sidecar: boolean,
  i: number,
  count: number,
): string | undefined {
  if (state?.terminated?.exitCode === 0 || (sidecar && started)) return undefined
  if (state?.terminated) return `Init:${state.terminated.reason || ending(state.terminated)}`
  const waiting = state?.waiting?.reason
  return waiting && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${i}/${count}`
}

/** The state of a pod in a word, and how its containers fare. */
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
    const held = initReason(container, sidecar, i, inits.length)
    if (held === undefined) {
      if (sidecar && container.started && container.ready) ready++
      continue
    }
    reason = held
    initializing = true
    break
  }
  if (!initializing || conditionIs(pod, 'Initialized')) {
    restarts = sidecarRestarts
    lastRestart = lastSidecarRestart
    let running = false
    // From the last to the first, so that the first one has the last word.
    for (const container of (status?.containerStatuses ?? []).toReversed()) {
      const { state } = container
      restarts += container.restartCount
      lastRestart = later(lastRestart, container.lastState?.terminated?.finishedAt)
      if (state?.waiting?.reason) reason = state.waiting.reason
      else if (state?.terminated) reason = state.terminated.reason || ending(state.terminated)
      else if (container.ready && state?.running) {
        running = true
        ready++
      }
    }
    if (reason === 'Completed' && running) reason = conditionIs(pod, 'Ready') ? 'Running' : 'NotReady'
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
  // The first of several counts.
  const conditions = new Map(status?.conditions?.toReversed().map((condition) => [condition.type, condition.status]))
  const open = gates.filter((gate) => conditions.get(gate.conditionType) === 'True')
  return `${open.length}/${gates.length}`
}

export const podColumns = [
  name,
  column<Pod>('Ready', (pod) => `${summary(pod).ready}/${summary(pod).total}`, {
    description: 'How many containers are ready, of how many.',
  }),
  column<Pod>('Status', (pod) => summary(pod).reason, {
    description: 'The state of the pod and its containers in one word.',
  }),
  column<Pod>('Restarts', restartsCell, { description: 'How often containers were restarted, and when last.' }),
  age,
  wide<Pod>('IP', ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || '<none>', {
    description: 'The address of the pod.',
  }),
  wide<Pod>('Node', ({ spec }) => spec?.nodeName || '<none>', { description: 'The node that the pod is bound to.' }),
  wide<Pod>('Nominated Node', ({ status }) => status?.nominatedNodeName || '<none>', {
    description: 'The node on which the scheduler makes room for the pod.',
  }),
  wide<Pod>('Readiness Gates', gatesCell, { description: 'How many readiness gates are open, of how many.' }),
]

const succeeded: readonly RowCondition[] = [
  { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
]
const failed: readonly RowCondition[] = [
  { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
]
const unfinished: readonly RowCondition[] = []

/** Rows of finished pods say so. */
export const podRowConditions = ({ status }: Pod): readonly RowCondition[] =>
  status?.phase === 'Succeeded' ? succeeded : status?.phase === 'Failed' ? failed : unfinished
