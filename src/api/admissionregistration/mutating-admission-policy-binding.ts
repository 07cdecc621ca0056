/** MutatingAdmissionPolicyBindings: apply a policy to a set of resources, with parameters. */
import type { V1MutatingAdmissionPolicyBinding } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, name, resource } from '../resource.ts'
import {
  matchDefaults,
  paramRefColumn,
  policyNameColumn,
  rejectDelete,
  validateMatchResources,
  validateParamRef,
  validatePolicyName,
} from './policy-rules.ts'
import { admissionGroup } from './webhook-rules.ts'

export const mutatingAdmissionPolicyBindings = resource<Model<V1MutatingAdmissionPolicyBinding>>({
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  storageHashVersion: 'v1beta1',
  plural: 'mutatingadmissionpolicybindings',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [({ spec }) => matchDefaults(spec?.matchResources)],
  validate: {
    object: ({ spec }) => [
      ...validatePolicyName(spec?.policyName),
      ...validateParamRef(spec?.paramRef, 'spec.paramRef'),
      ...validateMatchResources(spec?.matchResources, 'spec.matchResources'),
      ...rejectDelete(spec?.matchResources, 'spec.matchResources'),
    ],
  },
  columns: [name, policyNameColumn, paramRefColumn, age],
})

export const betaMutatingAdmissionPolicyBindings = additionalVersion(
  mutatingAdmissionPolicyBindings,
  'v1beta1',
  'V1beta1MutatingAdmissionPolicyBinding',
)
export const alphaMutatingAdmissionPolicyBindings = additionalVersion(
  mutatingAdmissionPolicyBindings,
  'v1alpha1',
  'V1alpha1MutatingAdmissionPolicyBinding',
)
