/** SchedulingGates: keeps pods with scheduling gates out of the queue (KEP-3521). */
import { on, pluginFactory, unresolvable } from '../../framework/index.ts'

export const schedulingGates = pluginFactory({
  name: 'SchedulingGates',
  make: () => ({
    events: [on('Pod', ['UpdateSchedulingGatesEliminated'])],
    preEnqueue({ pod }) {
      const gates = pod.spec?.schedulingGates
      return gates?.length
        ? unresolvable(`waiting for scheduling gates: [${gates.map(({ name }) => name).join(' ')}]`)
        : undefined
    },
  }),
})
