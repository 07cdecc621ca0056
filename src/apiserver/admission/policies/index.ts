/** Plug-ins that evaluate admission policies in CEL (admissionregistration.k8s.io). */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { mutatingPolicies } from './mutating/mutating-policies.ts'
import { validatingPolicies } from './validating/validating-policies.ts'

export const policyPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  MutatingAdmissionPolicy: (sources) => mutatingPolicies(sources),
  ValidatingAdmissionPolicy: (sources) => validatingPolicies(sources),
}
