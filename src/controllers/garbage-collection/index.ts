/** Removes what nobody owns any more. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'
import { garbageCollector } from './garbage-collector.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'garbage-collector-controller',
    aliases: ['garbagecollector'],
    account: 'generic-garbage-collector',
    flags: [concurrencyFlag('concurrent-gc-syncs', 'objects of the garbage collector', 20)],
    make: (_, flags) => garbageCollector({ concurrency: flags.number('concurrent-gc-syncs') }),
  },
]
