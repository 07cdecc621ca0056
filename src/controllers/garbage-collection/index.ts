/** The garbage collector. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'garbage-collector-controller',
    aliases: ['garbagecollector'],
    account: 'generic-garbage-collector',
    flags: [
      { name: 'concurrent-gc-syncs', type: 'number', help: 'number of garbage collector workers', default: '20' },
      { name: 'enable-garbage-collector', type: 'boolean', help: 'run the garbage collector', default: 'true' },
    ],
    missingRequirement: (_, flags) =>
      flags.boolean('enable-garbage-collector') ? undefined : '--enable-garbage-collector is false',
    make: async (_, flags, registry) =>
      (await import('./garbage-collector.ts')).garbageCollector({
        workers: flags.number('concurrent-gc-syncs'),
        registry,
      }),
  },
]
