/** PrioritySort: higher priority first, then the pod that has waited longest. */
import { pluginFactory } from '../../framework/index.ts'

export const prioritySort = pluginFactory({
  name: 'PrioritySort',
  make: () => ({
    less: (a, b) => (a.pod.priority === b.pod.priority ? a.queuedAt < b.queuedAt : a.pod.priority > b.pod.priority),
  }),
})
