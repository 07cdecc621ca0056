/** Removes what nobody owns any more. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { garbageCollector } from './garbage-collector.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'garbage-collector-controller',
    aliases: ['garbagecollector'],
    account: 'generic-garbage-collector',
    flags: [{ name: 'concurrent-gc-syncs', type: 'number', help: 'how many workers collect garbage', fallback: '20' }],
    make: (_, flags) => garbageCollector({ workers: flags.number('concurrent-gc-syncs') }),
  },
]
