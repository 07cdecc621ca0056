/** The pressure that the node is under: its conditions, and the pods that it admits meanwhile. */
import { isTolerated } from '../../machinery/selectors/toleration.ts'
import { conditionState, type NodeConditionState } from '../../node/status/conditions.ts'
import { isCritical } from '../admission/critical-pods.ts'
import type { Rejection } from '../admission/rejection.ts'
import { type Pod, specOf, statusOf } from '../pod-types.ts'
import type { PressureCondition } from './signals.ts'

const underPressure: Readonly<Record<PressureCondition, NodeConditionState>> = {
  MemoryPressure: conditionState(
    'MemoryPressure',
    'True',
    'KubeletHasInsufficientMemory',
    'kubelet has insufficient memory available',
  ),
  DiskPressure: conditionState('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'),
  PIDPressure: conditionState(
    'PIDPressure',
    'True',
    'KubeletHasInsufficientPID',
    'kubelet has insufficient PID available',
  ),
}

const memoryTaint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const

export class NodePressure {
  #conditions: readonly PressureCondition[] = []

  /** Returns true if that is a change. */
  set(conditions: readonly PressureCondition[]): boolean {
    const before = this.#conditions
    this.#conditions = conditions
    return before.length !== conditions.length || before.some((one) => !conditions.includes(one))
  }

  /** The conditions of the node that are true. */
  get states(): readonly NodeConditionState[] {
    return this.#conditions.map((condition) => underPressure[condition])
  }

  /**
   * Rejects pods under pressure. Critical ones are admitted, and under memory pressure also pods with requests and
   * those that tolerate it.
   */
  check(pod: Pod): Rejection | undefined {
    const conditions = this.#conditions
    if (conditions.length === 0 || isCritical(pod)) return undefined
    if (conditions.length === 1 && conditions[0] === 'MemoryPressure' && toleratesShortMemory(pod)) return undefined
    return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` }
  }
}

const toleratesShortMemory = (pod: Pod): boolean =>
  statusOf(pod).qosClass !== 'BestEffort' || isTolerated(memoryTaint, specOf(pod).tolerations)
