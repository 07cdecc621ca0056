/** ValidatingAdmissionPolicy: validates writes by policies in CEL (KEP-3488). */
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { policyMetrics } from '../policy-metrics.ts'
import { PolicySource } from '../policy-source.ts'
import { PolicyValidation, type ValidationSources } from './policy-validation.ts'
import { compileValidating, type ValidatingEvaluator, type ValidatingSpec } from './validating-evaluator.ts'

export function validatingPolicies(sources: PluginSources): AdmissionPlugin {
  const { registry, authorizer } = sources
  const source = new PolicySource<ValidatingSpec, ValidatingEvaluator>(sources, {
    policies: 'validatingadmissionpolicies',
    bindings: 'validatingadmissionpolicybindings',
    compile: compileValidating,
  })
  const metrics = policyMetrics(sources.metrics, 'validating')
  const ofValidations: ValidationSources = { source, registry, authorizer, metrics }
  return {
    name: 'ValidatingAdmissionPolicy',
    start: () => source.start(),
    stop: () => source.stop(),
    validate(attributes) {
      const { index } = source
      if (index.isEmpty) return
      if (index.candidates(attributes).length > 0) return new PolicyValidation(attributes, ofValidations).run()
    },
  }
}
