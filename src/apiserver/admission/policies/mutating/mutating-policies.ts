/** MutatingAdmissionPolicy: mutates objects by policies in CEL (KEP-3962). */
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { policyMetrics } from '../policy-metrics.ts'
import { PolicySource } from '../policy-source.ts'
import { compileMutating, type MutatingEvaluator, type MutatingSpec } from './mutating-evaluator.ts'
import { type MutationSources, PolicyMutation } from './policy-mutation.ts'

const pluginName = 'MutatingAdmissionPolicy'

export function mutatingPolicies(sources: PluginSources): AdmissionPlugin {
  const { registry, authorizer } = sources
  const source = new PolicySource<MutatingSpec, MutatingEvaluator>(sources, {
    policies: 'mutatingadmissionpolicies',
    bindings: 'mutatingadmissionpolicybindings',
    compile: compileMutating,
  })
  const metrics = policyMetrics(sources.metrics, 'mutating')
  const ofMutations: MutationSources = { plugin: pluginName, source, registry, authorizer, metrics }
  return {
    name: pluginName,
    handles: ['CREATE', 'UPDATE', 'CONNECT'],
    start: () => source.start(),
    stop: () => source.stop(),
    mutate(attributes) {
      const { index } = source
      if (index.isEmpty) return
      if (index.candidates(attributes).length > 0) return new PolicyMutation(attributes, ofMutations).run()
    },
  }
}
