/** The controller of ServiceCIDRs. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'service-cidr-controller',
    queue: 'ipaddresses',
    account: 'service-cidrs-controller',
    make: async ({ clock }) => (await import('./service-cidr-controller.ts')).serviceCidrController(() => clock.now()),
  },
]
