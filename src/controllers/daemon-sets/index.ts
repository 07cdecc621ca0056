/** A pod on every node. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'
import { daemonSetController } from './daemon-set.ts'

const concurrency = 'concurrent-daemonset-syncs'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'daemonset-controller',
    aliases: ['daemonset'],
    account: 'daemon-set-controller',
    flags: [concurrencyFlag(concurrency, 'DaemonSets', 2)],
    make: (_sources, flags) => daemonSetController({ concurrency: flags.number(concurrency) }),
  },
]
