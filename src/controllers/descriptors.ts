/** All controllers, folder by folder. To add one, describe it in the index.ts of its folder. */
import { controllers as admissionPolicies } from './admission-policies/index.ts'
import { controllers as autoscaling } from './autoscaling/index.ts'
import { controllers as bootstrapTokens } from './bootstrap-tokens/index.ts'
import { controllers as certificates } from './certificates/index.ts'
import { controllers as daemonSets } from './daemon-sets/index.ts'
import type { ControllerDescriptor } from './descriptor.ts'
import { controllers as disruption } from './disruption/index.ts'
import { controllers as endpoints } from './endpoints/index.ts'
import { controllers as garbageCollection } from './garbage-collection/index.ts'
import { controllers as jobs } from './jobs/index.ts'
import { controllers as loadBalancers } from './load-balancers/index.ts'
import { controllers as namespaces } from './namespaces/index.ts'
import { controllers as nodes } from './nodes/index.ts'
import { controllers as quota } from './quota/index.ts'
import { controllers as rbac } from './rbac/index.ts'
import { controllers as replicas } from './replicas/index.ts'
import { controllers as resourceClaims } from './resource-claims/index.ts'
import { controllers as serviceAccounts } from './service-accounts/index.ts'
import { controllers as serviceAddresses } from './service-addresses/index.ts'
import { controllers as statefulSets } from './stateful-sets/index.ts'
import { controllers as storageVersions } from './storage-versions/index.ts'
import { controllers as volumes } from './volumes/index.ts'

export const descriptors: readonly ControllerDescriptor[] = [
  ...serviceAccounts,
  ...rbac,
  ...certificates,
  ...namespaces,
  ...garbageCollection,
  ...replicas,
  ...statefulSets,
  ...daemonSets,
  ...jobs,
  ...disruption,
  ...autoscaling,
  ...endpoints,
  ...nodes,
  ...volumes,
  ...quota,
  ...bootstrapTokens,
  ...resourceClaims,
  ...serviceAddresses,
  ...loadBalancers,
  ...admissionPolicies,
  ...storageVersions,
]
