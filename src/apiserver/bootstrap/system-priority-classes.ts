/** The objects of the priority classes that every cluster has. */
import { systemPriorityClasses } from '../../api/scheduling/system-priority-classes.ts'
import type { Unstructured } from '../../machinery/object.ts'

export const systemPriorityClassObjects: readonly Unstructured[] = systemPriorityClasses.map(
  ({ name, value, description }) => ({
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    metadata: { name },
    value,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  }),
)
