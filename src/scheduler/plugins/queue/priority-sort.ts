/** PrioritySort: pods of a higher priority are tried first; of equal ones that which has waited longest. */
import { pluginFactory } from '../../framework/index.ts'

export const prioritySort = pluginFactory({
  name: 'PrioritySort',
  make: () => ({
    less: (a, b) => (a.pod.priority === b.pod.priority ? a.queuedAt < b.queuedAt : a.pod.priority > b.pod.priority),
  }),
})
