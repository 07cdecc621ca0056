/** The condition `AllContainersRestarting` (KEP-5532). */
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { PodCondition } from '../../node/pods/pod-types.ts'
import { type Pod, statusOf } from '../pod-types.ts'
import { canRestartAll, isReset, restartingCondition, shouldRestartAll } from '../pods/plan/restart-of-all.ts'
import type { RuntimePod } from '../pods/runtime-pod.ts'

/** Returns it for the pods that have a rule for it. The status of `pod` is its last one; `now` is in ms since 1970. */
export function restartingConditions(pod: Pod, runtimePod: RuntimePod, phase: string, now: number): PodCondition[] {
  if (!canRestartAll(pod)) return []
  const last = statusOf(pod).conditions?.find(({ type }) => type === restartingCondition)
  const state = stateOf(pod, runtimePod, phase)
  const lastTransitionTime = last?.status === state.status ? last.lastTransitionTime : timestamp(now)
  return [{ type: restartingCondition, ...state, lastProbeTime: null as never, lastTransitionTime }]
}

function stateOf(pod: Pod, runtimePod: RuntimePod, phase: string): Pick<PodCondition, 'status' | 'reason' | 'message'> {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  if (!shouldRestartAll(pod, runtimePod) || isReset(pod, runtimePod)) return { status: 'False' }
  return {
    status: 'True',
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
  }
}
