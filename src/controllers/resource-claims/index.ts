/** Claims of devices that pods ask for by template. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'resourceclaim-controller',
    queue: 'resource_claim',
    aliases: ['resource-claim-controller'],
    account: 'resource-claim-controller',
    make: async () => (await import('./controller.ts')).resourceClaimController(),
  },
  {
    name: 'device-taint-eviction-controller',
    account: 'device-taint-eviction-controller',
    make: async () => (await import('./device-taints/controller.ts')).deviceTaintEviction(),
  },
]
