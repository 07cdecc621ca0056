/** networking.k8s.io, in the order of its discovery. */
import { ingresses } from './ingress.ts'
import { ingressClasses } from './ingress-class.ts'
import { betaIPAddresses, ipAddresses } from './ip-address.ts'
import { networkPolicies } from './network-policy.ts'
import { betaServiceCidrs, serviceCidrs } from './service-cidr.ts'

export const resources = [
  ingressClasses,
  ingresses,
  ipAddresses,
  networkPolicies,
  serviceCidrs,
  betaIPAddresses,
  betaServiceCidrs,
]
