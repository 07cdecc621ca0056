/** MutatingAdmissionPolicyBindings: where a policy changes things, and with which parameters. */
import type { V1MutatingAdmissionPolicyBinding } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { age, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
import {
  matchDefaults,
  matchRules,
  mutableOperations,
  paramRefColumn,
  paramRefRules,
  policyNameColumn,
  policyNameRules,
} from './policy-rules.ts'
import { admissionGroup } from './webhook-rules.ts'

export const mutatingAdmissionPolicyBindings = resource<Model<V1MutatingAdmissionPolicyBinding>>({
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  hashedVersion: 'v1beta1',
  plural: 'mutatingadmissionpolicybindings',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [({ spec }) => matchDefaults(spec?.matchResources)],
  validate: {
    object: ({ spec }) => [
      ...policyNameRules(spec?.policyName),
      ...paramRefRules(spec?.paramRef, 'spec.paramRef'),
      ...matchRules(spec?.matchResources, 'spec.matchResources'),
      ...mutableOperations(spec?.matchResources, 'spec.matchResources'),
    ],
  },
  columns: [name, policyNameColumn, paramRefColumn, age],
})

export const betaMutatingAdmissionPolicyBindings = servedAlso(
  mutatingAdmissionPolicyBindings,
  'v1beta1',
  'V1beta1MutatingAdmissionPolicyBinding',
)
export const alphaMutatingAdmissionPolicyBindings = servedAlso(
  mutatingAdmissionPolicyBindings,
  'v1alpha1',
  'V1alpha1MutatingAdmissionPolicyBinding',
)
