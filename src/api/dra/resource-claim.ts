/** ResourceClaims and their templates: requests for devices (dynamic resource allocation, KEP-4381). */
import type { ResourceV1ResourceClaim, V1ResourceClaimTemplate } from '@kubernetes/client-node'
import type { KubeObject, Model } from '../../machinery/object.ts'
import { immutable } from '../../machinery/validation/field-rules.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, column, name, resource } from '../resource.ts'
import { claimFromV1beta1, claimToV1beta1 } from './flat-requests.ts'
import { claimStatusRules, removeStaleDevices } from './rules/claim-status.ts'
import { type DeviceClaim, deviceClaimRules } from './rules/claims.ts'

type Claim = Model<ResourceV1ResourceClaim>
type Template = Model<V1ResourceClaimTemplate>

export const resourceClaims = resource<Claim>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  plural: 'resourceclaims',
  model: 'ResourceV1ResourceClaim',
  scope: 'Namespaced',
  deletion: { returnsObject: true },
  subresources: { status: true },
  defaults: [({ spec }) => deviceDefaults(spec?.devices)],
  resetFields: { status: ['metadata', 'spec'] },
  prepare: {
    create: (claim) => {
      claim.status = {}
    },
    status: removeStaleDevices,
  },
  validate: {
    object: ({ spec }) => deviceClaimRules(spec?.devices, 'spec.devices'),
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
    status: claimStatusRules,
  },
  columns: [name, column('State', claimState, { description: 'Whether the claim is allocated and reserved.' }), age],
})

function claimState({ metadata, status }: Claim): string {
  const { allocation, reservedFor } = status ?? {}
  const states = [
    metadata.deletionTimestamp && 'deleted',
    allocation && 'allocated',
    allocation && reservedFor?.length && 'reserved',
  ]
  return states.filter(Boolean).join(',') || 'pending'
}

export const resourceClaimTemplates = resource<Template>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  model: 'V1ResourceClaimTemplate',
  scope: 'Namespaced',
  deletion: { returnsObject: true },
  defaults: [({ spec }) => deviceDefaults(spec?.spec?.devices)],
  validate: {
    object: ({ spec }) => deviceClaimRules(spec?.spec?.devices, 'spec.spec.devices'),
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
  },
  columns: [name, age],
})

function deviceDefaults(devices: DeviceClaim | undefined): void {
  for (const { exactly, firstAvailable } of devices?.requests ?? [])
    for (const request of [...(exactly ? [exactly] : []), ...(firstAvailable ?? [])]) {
      request.allocationMode ??= 'ExactCount'
      if (request.allocationMode === 'ExactCount') request.count ??= 1
    }
}

const flatClaim = {
  toStorage: (object: KubeObject) => claimFromV1beta1(object, (claim) => claim.spec?.devices),
  fromStorage: (object: KubeObject) => claimToV1beta1(object, (claim) => claim.spec?.devices),
}
const flatTemplate = {
  toStorage: (object: KubeObject) => claimFromV1beta1(object, (template) => template.spec?.spec?.devices),
  fromStorage: (object: KubeObject) => claimToV1beta1(object, (template) => template.spec?.spec?.devices),
}

export const betaClaims = [
  additionalVersion(resourceClaims, 'v1beta2', 'V1beta2ResourceClaim'),
  additionalVersion(resourceClaimTemplates, 'v1beta2', 'V1beta2ResourceClaimTemplate'),
  additionalVersion(resourceClaims, 'v1beta1', 'V1beta1ResourceClaim', flatClaim),
  additionalVersion(resourceClaimTemplates, 'v1beta1', 'V1beta1ResourceClaimTemplate', flatTemplate),
]
