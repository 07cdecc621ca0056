/** The conditions that a kubelet reports for its node, with its reasons and messages. */
import type { Node } from '../../client/kinds.ts'
import { timestamp } from '../../machinery/values/timestamp.ts'

export type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

/** A condition without its times. */
export interface NodeConditionState {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export const conditionState = (
  type: string,
  status: NodeConditionState['status'],
  reason: string,
  message: string,
): NodeConditionState => ({ type, status, reason, message })

/** The conditions of a node that lacks nothing, in a kubelet's order. */
export const healthyConditions: readonly NodeConditionState[] = [
  conditionState('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
  conditionState('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
  conditionState('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
  conditionState('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
]

/** The conditions to report now. `before` has the times of the last transitions. */
export function nodeConditions(
  before: readonly NodeCondition[],
  current: readonly NodeConditionState[],
  now: number,
): NodeCondition[] {
  const time = timestamp(now)
  return current.map((state) => {
    const last = before.find(({ type }) => type === state.type)
    return {
      ...state,
      lastHeartbeatTime: time,
      lastTransitionTime: last?.status === state.status ? (last.lastTransitionTime ?? time) : time,
    }
  })
}

/** The conditions of `after` whose status differs from `before`. */
export const changedConditions = (before: readonly NodeCondition[], after: readonly NodeCondition[]): NodeCondition[] =>
  after.filter(({ type, status }) => before.find((one) => one.type === type)?.status !== status)

/** The reason of the event that a kubelet records when a condition changes. */
export const eventOfCondition = ({ type, status, reason = '' }: NodeCondition): string =>
  type === 'Ready' ? (status === 'True' ? 'NodeReady' : 'NodeNotReady') : reason.replace(/^Kubelet/, 'Node')
