/** The usage of ResourceQuotas. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'resourcequota-controller',
    queue: 'resourcequota_primary',
    aliases: ['resourcequota'],
    account: 'resourcequota-controller',
    flags: [
      concurrencyFlag('concurrent-resource-quota-syncs', 'ResourceQuotas', 5),
      {
        name: 'resource-quota-sync-period',
        type: 'duration',
        help: 'period of recounting the usage of quotas',
        default: '5m0s',
      },
    ],
    make: async (_sources, flags) =>
      (await import('./controller.ts')).resourceQuotaController({
        concurrency: flags.number('concurrent-resource-quota-syncs'),
        syncPeriodMs: flags.duration('resource-quota-sync-period'),
      }),
  },
]
