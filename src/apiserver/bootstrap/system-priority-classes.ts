/** The priority classes of pods without which a cluster or a node does not work. */
import type { KubeObject, Unstructured } from '../../machinery/object.ts'

const priorityClass = (name: string, value: number, description: string): KubeObject =>
  ({
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    metadata: { name },
    value,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  }) as Unstructured

/** Above everything that users may define, which ends at one billion. */
export const systemPriorityClasses: readonly KubeObject[] = [
  priorityClass(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
  priorityClass('system-node-critical', 2_000_001_000, 'Used for system critical pods that must not be moved from their current node.'),
]
