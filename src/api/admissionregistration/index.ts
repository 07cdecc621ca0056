/** admissionregistration.k8s.io, in the order of its discovery. */
import {
  alphaMutatingAdmissionPolicies,
  betaMutatingAdmissionPolicies,
  mutatingAdmissionPolicies,
} from './mutating-admission-policy.ts'
import {
  alphaMutatingAdmissionPolicyBindings,
  betaMutatingAdmissionPolicyBindings,
  mutatingAdmissionPolicyBindings,
} from './mutating-admission-policy-binding.ts'
import { mutatingWebhookConfigurations } from './mutating-webhook-configuration.ts'
import { validatingAdmissionPolicies } from './validating-admission-policy.ts'
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-binding.ts'
import { validatingWebhookConfigurations } from './validating-webhook-configuration.ts'

export const resources = [
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  betaMutatingAdmissionPolicies,
  betaMutatingAdmissionPolicyBindings,
  alphaMutatingAdmissionPolicies,
  alphaMutatingAdmissionPolicyBindings,
]
