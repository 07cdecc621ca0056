/** The controller of StatefulSets. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

const concurrency = 'concurrent-statefulset-syncs'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'statefulset-controller',
    queue: 'statefulset',
    aliases: ['statefulset'],
    account: 'statefulset-controller',
    flags: [concurrencyFlag(concurrency, 'StatefulSets', 5)],
    make: async ({ features, clock }, flags, registry) =>
      (await import('./stateful-set.ts')).statefulSetController({
        concurrency: flags.number(concurrency),
        registry,
        features,
        now: () => clock.now(),
      }),
  },
]
