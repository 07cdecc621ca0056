/** resource.k8s.io (dynamic resource allocation), in the order of its discovery. */
import { betaDeviceClasses, deviceClasses } from './device-class.ts'
import { alphaDeviceTaintRules, deviceTaintRules, resourcePoolStatusRequests } from './device-taint-rule.ts'
import { betaClaims, resourceClaims, resourceClaimTemplates } from './resource-claim.ts'
import { betaResourceSlices, resourceSlices } from './resource-slice.ts'

export const resources = [
  deviceClasses,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
  ...betaDeviceClasses,
  ...betaClaims,
  ...betaResourceSlices,
  deviceTaintRules,
  alphaDeviceTaintRules,
  resourcePoolStatusRequests,
]
