/** The service controller: gives addresses of this machine to Services of type LoadBalancer, in place of a cloud's. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { parsePools } from './address-pools.ts'

const poolFlag = 'load-balancer-pool'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'service-lb-controller',
    queue: 'service',
    aliases: ['service'],
    account: 'service-controller',
    isOffByDefault: true,
    flags: [
      {
        name: poolFlag,
        type: 'text',
        help: 'address ranges for Services of type LoadBalancer; for dual stack, one of each family',
        default: '',
      },
    ],
    missingRequirement: (_, flags) =>
      flags.text(poolFlag) === '' ? `--${poolFlag} has no range; clouds have their own controller manager` : undefined,
    make: async (_sources, flags) =>
      (await import('./load-balancer-controller.ts')).loadBalancerController(parsePools(flags.text(poolFlag))),
  },
]
