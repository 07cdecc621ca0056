/** Plug-ins that hold what is written against policies in CEL (admissionregistration.k8s.io). */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { validatingPolicies } from './validating-policies.ts'

export const policyPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  ValidatingAdmissionPolicy: (sources) => validatingPolicies(sources),
}
