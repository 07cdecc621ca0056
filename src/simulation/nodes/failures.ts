/** The conditions of a simulated node, healthy or failing. */
import { parseQuantity } from '../../machinery/values/quantity.ts'
import {
  conditionState,
  healthyConditions,
  type NodeCondition,
  type NodeConditionState,
  nodeConditions,
} from '../../node/status/conditions.ts'

/** Failures of a node. `gone` stops all updates, as a machine without power. */
export const failures = ['not-ready', 'gone', 'disk-pressure', 'memory-pressure', 'pid-pressure'] as const
export type Failure = (typeof failures)[number]

export const isFailure = (text: string | undefined): text is Failure => failures.includes(text as Failure)

/** A resource of which a node is short. */
export interface Pressure {
  readonly condition: 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'
  readonly resource: 'memory' | 'ephemeral-storage' | 'pids'
  /**
   * The threshold and the available amount for a node with this capacity, as with a kubelet's default thresholds;
   * undefined without a threshold.
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
      // The threshold is a tenth; half of that is available.
      return { quantity: `${bytes / diskShare}`, available: `${bytes / diskShare / 2048n}Ki` }
    },
  },
  'pid-pressure': { condition: 'PIDPressure', resource: 'pids' },
}

export const pressureOf = (failure: Failure | undefined): Pressure | undefined =>
  failure === undefined ? undefined : pressures[failure]

const failed: Readonly<Record<Exclude<Failure, 'gone'>, NodeConditionState>> = {
  'not-ready': conditionState(
    'Ready',
    'False',
    'KubeletNotReady',
    'container runtime is down, PLEG is not healthy: pleg was last seen active 3m0s ago; threshold is 3m0s',
  ),
  'disk-pressure': conditionState('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'),
  'memory-pressure': conditionState(
    'MemoryPressure',
    'True',
    'KubeletHasInsufficientMemory',
    'kubelet has insufficient memory available',
  ),
  'pid-pressure': conditionState(
    'PIDPressure',
    'True',
    'KubeletHasInsufficientPID',
    'kubelet has insufficient PID available',
  ),
}

const withoutNetwork = conditionState(
  'Ready',
  'False',
  'KubeletNotReady',
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin ' +
    'returns error: cni plugin not initialized',
)

/** The conditions of a node. `hasNetwork`: the node has a range for its pods. */
export function conditionsOf(
  before: readonly NodeCondition[],
  failure: Failure | undefined,
  hasNetwork: boolean,
  now: number,
): NodeCondition[] {
  const failing = failure && failure !== 'gone' ? failed[failure] : undefined
  const current = healthyConditions.map((usual) =>
    failing?.type === usual.type ? failing : usual.type === 'Ready' && !hasNetwork ? withoutNetwork : usual,
  )
  return nodeConditions(before, current, now)
}
