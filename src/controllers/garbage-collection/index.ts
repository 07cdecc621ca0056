/** Removes what nobody owns any more. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'garbage-collector-controller',
    aliases: ['garbagecollector'],
    account: 'generic-garbage-collector',
    flags: [{ name: 'concurrent-gc-syncs', type: 'number', help: 'how many workers collect garbage', fallback: '20' }],
    make: async (_, flags) => (await import('./garbage-collector.ts')).garbageCollector({ workers: flags.number('concurrent-gc-syncs') }),
  },
]
