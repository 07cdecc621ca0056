/** The conditions of a simulated node, in a kubelet's words, and how they are when it fails. */
import type { Node } from '../../client/kinds.ts'
import { parseQuantity } from '../../machinery/values/quantity.ts'
import { timestamp } from '../timing/timestamp.ts'

export type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

/** How a node may fail. `gone` says nothing any more, as a machine without power. */
export const failures = ['not-ready', 'gone', 'disk-pressure', 'memory-pressure', 'pid-pressure'] as const
export type Failure = (typeof failures)[number]

export const isFailure = (text: string | undefined): text is Failure => failures.includes(text as Failure)

/** A resource that is short on a node. */
export interface Pressure {
  readonly condition: 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'
  readonly resource: 'memory' | 'ephemeral-storage' | 'pids'
  /**
   * How much there has to be, and is, on a node with this capacity: a kubelet's usual thresholds; undefined where it
   * has none.
   */
  readonly threshold?: (
    capacity: Readonly<Record<string, string>>,
  ) => { readonly quantity: string; readonly available: string } | undefined
}

const diskShare = 10n
const giga = 1_000_000_000n

const pressures: Readonly<Record<string, Pressure>> = {
  'memory-pressure': {
    condition: 'MemoryPressure',
    resource: 'memory',
    threshold: () => ({ quantity: '100Mi', available: '64Mi' }),
  },
  'disk-pressure': {
    condition: 'DiskPressure',
    resource: 'ephemeral-storage',
    threshold: ({ 'ephemeral-storage': size }) => {
      if (size === undefined) return undefined
      const bytes = parseQuantity(size).nano / giga
      // A tenth has to be free; half of that is.
      return { quantity: `${bytes / diskShare}`, available: `${bytes / diskShare / 2048n}Ki` }
    },
  },
  'pid-pressure': { condition: 'PIDPressure', resource: 'pids' },
}

export const pressureOf = (failure: Failure | undefined): Pressure | undefined =>
  failure === undefined ? undefined : pressures[failure]

interface Stated {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const state = (type: string, status: Stated['status'], reason: string, message: string): Stated => ({
  type,
  status,
  reason,
  message,
})

const healthy: readonly Stated[] = [
  state('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
  state('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
  state('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
  state('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
]

const failed: Readonly<Record<Exclude<Failure, 'gone'>, Stated>> = {
  'not-ready': state(
    'Ready',
    'False',
    'KubeletNotReady',
    'container runtime is down, PLEG is not healthy: pleg was last seen active 3m0s ago; threshold is 3m0s',
  ),
  'disk-pressure': state('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'),
  'memory-pressure': state(
    'MemoryPressure',
    'True',
    'KubeletHasInsufficientMemory',
    'kubelet has insufficient memory available',
  ),
  'pid-pressure': state('PIDPressure', 'True', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'),
}

const withoutNetwork = state(
  'Ready',
  'False',
  'KubeletNotReady',
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin ' +
    'returns error: cni plugin not initialized',
)

/** What a node tells of itself now. `hasNetwork` says whether it knows the range of its pods. */
export function conditionsOf(
  before: readonly NodeCondition[],
  failure: Failure | undefined,
  hasNetwork: boolean,
  now: number,
): NodeCondition[] {
  const time = timestamp(now)
  const wrong = failure && failure !== 'gone' ? failed[failure] : undefined
  return healthy.map((usual) => {
    const stated = wrong?.type === usual.type ? wrong : usual.type === 'Ready' && !hasNetwork ? withoutNetwork : usual
    const last = before.find(({ type }) => type === stated.type)
    return {
      ...stated,
      lastHeartbeatTime: time,
      lastTransitionTime: last?.status === stated.status ? (last.lastTransitionTime ?? time) : time,
    }
  })
}

/** The event that a kubelet tells when a condition has changed: its reason, which is all that its message says. */
export const eventOfCondition = ({ type, status, reason = '' }: NodeCondition): string =>
  type === 'Ready' ? (status === 'True' ? 'NodeReady' : 'NodeNotReady') : reason.replace(/^Kubelet/, 'Node')
