/** The controller of DaemonSets. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

const concurrency = 'concurrent-daemonset-syncs'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'daemonset-controller',
    queue: 'daemonset',
    aliases: ['daemonset'],
    account: 'daemon-set-controller',
    flags: [concurrencyFlag(concurrency, 'DaemonSets', 2)],
    make: async ({ clock }, flags) =>
      (await import('./daemon-set.ts')).daemonSetController({
        concurrency: flags.number(concurrency),
        now: () => clock.now(),
      }),
  },
]
