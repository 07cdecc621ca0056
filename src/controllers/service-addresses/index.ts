/** The addresses of Services, and the ranges that they are from. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { serviceCidrController } from './service-cidr-controller.ts'

export const controllers: readonly ControllerDescriptor[] = [
  { name: 'service-cidr-controller', account: 'service-cidrs-controller', make: () => serviceCidrController(Date.now) },
]
