/** What happens to a pod between the decision and the end of its binding: Reserve, Permit, PreBind, Bind, PostBind, and the way back. */
import { reasonOf } from '../../lib/explained-error.ts'
import type { Extender } from '../framework/extender.ts'
import { failed, type Refusal, type Status } from '../framework/status.ts'
import type { PodCycle } from './pod-cycle.ts'

export interface Placement {
  readonly cycle: PodCycle
  /** Its name. */
  readonly node: string
}

/** The first refusal; what was reserved before is for the caller to undo. */
export function reserve({ cycle, node }: Placement): Refusal | undefined {
  for (const step of cycle.profile.steps.reserve) {
    const status = attempt(`running Reserve plugin ${JSON.stringify(step.name)}`, () => step.plugin.reserve?.(cycle.stateOf(step), cycle.pod, node))
    if (status) return { plugin: step.name, status }
  }
  return undefined
}

/** Gives back all that was reserved, the last first. */
export function unreserve({ cycle, node }: Placement): void {
  for (const step of cycle.profile.steps.reserve.toReversed()) {
    try {
      step.plugin.unreserve?.(cycle.stateOf(step), cycle.pod, node)
    } catch (error) {
      cycle.profile.handle.log(`${step.name} could not give back what it had reserved for ${cycle.pod.key}: ${reasonOf(error)}`)
    }
  }
}

export interface Permission {
  readonly refusal?: Refusal
  /** How long the pod may wait, by the plug-ins that want it to; in ms. */
  readonly timeouts: ReadonlyMap<string, number>
}

export function permit({ cycle, node }: Placement): Permission {
  const timeouts = new Map<string, number>()
  for (const step of cycle.profile.steps.permit) {
    const status = attempt(`running Permit plugin ${JSON.stringify(step.name)}`, () => step.plugin.permit?.(cycle.stateOf(step), cycle.pod, node))
    if (status?.code === 'Wait') timeouts.set(step.name, status.timeoutMs ?? 0)
    else if (status) return { refusal: { plugin: step.name, status }, timeouts }
  }
  return { timeouts }
}

/** Prepares and binds; the first refusal ends it. Never rejects. */
export async function bind(placement: Placement, extenders: readonly Extender[]): Promise<Refusal | undefined> {
  const { cycle, node } = placement
  const { preBind, postBind } = cycle.profile.steps
  for (const step of preBind) {
    const state = cycle.stateOf(step)
    if (step.plugin.needsPreBind && !step.plugin.needsPreBind(state, cycle.pod, node)) continue
    const status = await attemptLater(`running PreBind plugin ${JSON.stringify(step.name)}`, async () => step.plugin.preBind?.(state, cycle.pod, node))
    if (status) return { plugin: step.name, status }
  }
  const refusal = await bindAlone(placement, extenders)
  if (!refusal) for (const step of postBind) step.plugin.postBind?.(cycle.stateOf(step), cycle.pod, node)
  return refusal
}

async function bindAlone({ cycle: { pod, profile }, node }: Placement, extenders: readonly Extender[]): Promise<Refusal | undefined> {
  const extender = extenders.find((one) => one.bind && one.isInterested(pod))
  if (extender) {
    const status = await attemptLater('', async () => void (await extender.bind?.(pod, node)))
    return status && { plugin: extender.name, status }
  }
  for (const { name, plugin } of profile.steps.bind) {
    const status = await attemptLater(`running Bind plugin ${JSON.stringify(name)}`, async () => plugin.bind?.(pod, node))
    if (status?.code !== 'Skip') return status && { plugin: name, status }
  }
  return { plugin: '', status: failed(new Error('no plug-in wants to bind the pod')) }
}

function attempt(what: string, work: () => Status | undefined): Status | undefined {
  try {
    return work()
  } catch (error) {
    return failure(what, error)
  }
}

async function attemptLater(what: string, work: () => Promise<Status | undefined>): Promise<Status | undefined> {
  try {
    return await work()
  } catch (error) {
    return failure(what, error)
  }
}

const failure = (what: string, error: unknown): Status => failed(new Error(what ? `${what}: ${reasonOf(error)}` : reasonOf(error), { cause: error }))
