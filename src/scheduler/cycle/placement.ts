/**
 * What happens to a pod between the decision and the end of its binding: Reserve, Permit, PreBind, Bind, PostBind, and
 * the way back.
 */
import { reasonOf } from '../../lib/explained-error.ts'
import type { Extender } from '../framework/extender.ts'
import { failed, type Refusal, type Status } from '../framework/status.ts'
import { type MeteredPoint, outcomeOf } from '../metrics/plugin-metrics.ts'
import type { Step } from '../profile/profile.ts'
import type { PreparingPods } from '../running/preparing-pods.ts'
import { failureOf, type PodCycle } from './pod-cycle.ts'

export interface Placement {
  readonly cycle: PodCycle
  /** Its name. */
  readonly node: string
}

/** The first refusal; what was reserved before is for the caller to undo. */
export function reserve({ cycle, node }: Placement): Refusal | undefined {
  const began = performance.now()
  let refusal: Refusal | undefined
  for (const step of cycle.profile.steps.reserve) {
    const status = attempt(cycle, step, 'Reserve', () => step.plugin.reserve?.(cycle.stateOf(step), cycle.pod, node))
    if (!status) continue
    refusal = { plugin: step.name, status }
    break
  }
  cycle.profile.meter.pointRan('Reserve', outcomeOf(refusal?.status), began)
  return refusal
}

/** Gives back all that was reserved, the last first. */
export function unreserve({ cycle, node }: Placement): void {
  const began = performance.now()
  for (const step of cycle.profile.steps.reserve.toReversed()) {
    const status = attempt(
      cycle,
      step,
      'Unreserve',
      () => void step.plugin.unreserve?.(cycle.stateOf(step), cycle.pod, node),
    )
    if (status)
      cycle.profile.handle.log(
        `${step.name} could not give back what it had reserved for ${cycle.pod.key}: ${reasonOf(status.cause)}`,
      )
  }
  cycle.profile.meter.pointRan('Unreserve', 'Success', began)
}

export interface Permission {
  readonly refusal?: Refusal
  /** How long the pod may wait, by the plug-ins that want it to; in ms. */
  readonly timeouts: ReadonlyMap<string, number>
}

export function permit(placement: Placement): Permission {
  const began = performance.now()
  const permission = askedPermission(placement)
  const { refusal, timeouts } = permission
  placement.cycle.profile.meter.pointRan(
    'Permit',
    refusal ? outcomeOf(refusal.status) : timeouts.size > 0 ? 'Wait' : 'Success',
    began,
  )
  return permission
}

function askedPermission({ cycle, node }: Placement): Permission {
  const timeouts = new Map<string, number>()
  for (const step of cycle.profile.steps.permit) {
    const status = attempt(cycle, step, 'Permit', () => step.plugin.permit?.(cycle.stateOf(step), cycle.pod, node))
    if (status?.code === 'Wait') timeouts.set(step.name, status.timeoutMs ?? 0)
    else if (status) return { refusal: { plugin: step.name, status }, timeouts }
  }
  return { timeouts }
}

/** Prepares and binds; the first refusal ends it. Never rejects. */
export async function bind(
  placement: Placement,
  extenders: readonly Extender[],
  preparing: PreparingPods,
): Promise<Refusal | undefined> {
  const { pod, profile } = placement.cycle
  const { meter } = profile
  const began = performance.now()
  const steps = stepsToPrepare(placement)
  // Where there is nothing to prepare the pod is bound at once, while the cluster is as it was decided for.
  const unprepared =
    steps.length > 0 ? await preparing.prepare(pod.uid, (signal) => prepare(placement, steps, signal)) : undefined
  meter.pointRan('PreBind', outcomeOf(unprepared?.status), began)
  if (unprepared) return unprepared
  const binding = performance.now()
  const refusal = await bindAlone(placement, extenders)
  meter.pointRan('Bind', outcomeOf(refusal?.status), binding)
  if (!refusal) tellBound(placement)
  return refusal
}

/** Whether it may take a while until the pod is bound: something has to be prepared first. */
export const needsTime = (placement: Placement): boolean => stepsToPrepare(placement).length > 0

const stepsToPrepare = ({ cycle, node }: Placement): readonly Step[] =>
  cycle.profile.steps.preBind.filter((step) => step.plugin.needsPreBind?.(cycle.stateOf(step), cycle.pod, node) ?? true)

async function prepare(
  { cycle, node }: Placement,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  for (const step of steps) {
    const status = await attemptLater(cycle, step, 'PreBind', async () => {
      const told = await step.plugin.preBind?.(cycle.stateOf(step), cycle.pod, node, signal)
      // Whatever became of it: others have the place by now.
      signal.throwIfAborted()
      return told
    })
    if (status) return { plugin: step.name, status }
  }
  return undefined
}

async function bindAlone({ cycle, node }: Placement, extenders: readonly Extender[]): Promise<Refusal | undefined> {
  const { pod, profile } = cycle
  for (const extender of extenders) {
    if (!extender.bind || !extender.isInterested(pod)) continue
    try {
      await extender.bind(pod, node)
      return undefined
    } catch (error) {
      if (!extender.ignorable)
        return { plugin: extender.name, status: failed(new Error(reasonOf(error), { cause: error })) }
    }
  }
  for (const step of profile.steps.bind) {
    const status = await attemptLater(cycle, step, 'Bind', async () => step.plugin.bind?.(pod, node))
    if (status?.code !== 'Skip') return status && { plugin: step.name, status }
  }
  return { plugin: '', status: failed(new Error('no plug-in wants to bind the pod')) }
}

function tellBound({ cycle, node }: Placement): void {
  const began = performance.now()
  for (const step of cycle.profile.steps.postBind) step.plugin.postBind?.(cycle.stateOf(step), cycle.pod, node)
  cycle.profile.meter.pointRan('PostBind', 'Success', began)
}

/** Asks one plug-in; what it throws becomes a status. */
function attempt(cycle: PodCycle, step: Step, point: MeteredPoint, work: () => Status | undefined): Status | undefined {
  const began = performance.now()
  let status: Status | undefined
  try {
    status = named(work(), step, point)
  } catch (error) {
    status = failure(step, point, error)
  }
  if (cycle.isTimed) cycle.profile.meter.pluginRan(step.name, point, outcomeOf(status), began)
  return status
}

/** The same for one that may take its time. */
async function attemptLater(
  cycle: PodCycle,
  step: Step,
  point: MeteredPoint,
  work: () => Promise<Status | undefined>,
): Promise<Status | undefined> {
  const began = performance.now()
  const status = await work().then(
    (answer) => named(answer, step, point),
    (error: unknown) => failure(step, point, error),
  )
  if (cycle.isTimed) cycle.profile.meter.pluginRan(step.name, point, outcomeOf(status), began)
  return status
}

/** What went wrong is told with who it happened to, whether it was thrown or returned. */
const named = (status: Status | undefined, step: Step, point: MeteredPoint): Status | undefined =>
  status?.code === 'Error' ? failure(step, point, failureOf(status)) : status

const failure = ({ name }: Step, point: MeteredPoint, error: unknown): Status =>
  failed(new Error(`running ${point} plugin ${JSON.stringify(name)}: ${reasonOf(error)}`, { cause: error }))
