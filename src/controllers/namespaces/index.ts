/** The controller of deleted namespaces. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'namespace-controller',
    queue: 'namespace',
    aliases: ['namespace'],
    account: 'namespace-controller',
    flags: [
      concurrencyFlag('concurrent-namespace-syncs', 'namespaces', 10),
      {
        name: 'namespace-sync-period',
        type: 'duration',
        help: 'period of resyncing terminating namespaces',
        default: '5m0s',
      },
    ],
    make: async (_, flags) =>
      (await import('./namespace-controller.ts')).namespaceController({
        concurrency: flags.number('concurrent-namespace-syncs'),
        syncPeriodMs: flags.duration('namespace-sync-period'),
      }),
  },
]
