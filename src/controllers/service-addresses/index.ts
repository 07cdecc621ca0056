/** The controller of ServiceCIDRs. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'service-cidr-controller',
    queue: 'ipaddresses',
    account: 'service-cidrs-controller',
    make: async () => (await import('./service-cidr-controller.ts')).serviceCidrController(Date.now),
  },
]
