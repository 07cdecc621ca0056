/** The controller of PodDisruptionBudgets. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'disruption-controller',
    queue: 'disruption',
    aliases: ['disruption'],
    account: 'disruption-controller',
    make: async ({ clock }) => (await import('./disruption-controller.ts')).disruptionController(() => clock.now()),
  },
]
