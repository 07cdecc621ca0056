/** What is counted of Pod Security, by upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { kubernetesMinor } from '../../../lib/release.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { type LevelVersion, type Mode, versionText } from './policy.ts'

export interface PodSecurityMetrics {
  evaluated(decision: 'allow' | 'deny', standard: LevelVersion, mode: Mode, attributes: AdmissionAttributes): void
  exempted(attributes: AdmissionAttributes): void
  /** `fatal`: nothing was evaluated. */
  failed(fatal: boolean, attributes: AdmissionAttributes): void
}

const common = ['request_operation', 'resource', 'subresource']

export function podSecurityMetrics(registry: MetricsRegistry): PodSecurityMetrics {
  const evaluations = registry.counter(
    'pod_security_evaluations_total',
    'Evaluations of policies, without those of requests that are ignored or exempt.',
    ['decision', 'policy_level', 'policy_version', 'mode', ...common],
  )
  const exemptions = registry.counter(
    'pod_security_exemptions_total',
    'Exempt requests, without those that are ignored.',
    common,
  )
  const errors = registry.counter(
    'pod_security_errors_total',
    'Errors that kept policies from being evaluated as they were meant.',
    ['fatal', ...common],
  )
  const version = (standard: LevelVersion): string => {
    if (standard.level === 'privileged' || standard.version === 'latest') return 'latest'
    // Labels of namespaces may name any version: those that nobody knows yet make no series of their own.
    return standard.version > kubernetesMinor ? 'future' : versionText(standard)
  }
  // There from the start, as most requests are of these.
  for (const operation of ['create', 'update']) {
    evaluations(['allow', 'privileged', 'latest', 'enforce', operation, 'pod', ''])
    for (const resource of ['pod', 'controller']) exemptions([operation, resource, ''])
  }
  return {
    evaluated: (decision, standard, mode, attributes) =>
      evaluations([decision, standard.level, version(standard), mode, ...labelsOf(attributes)]).add(),
    exempted: (attributes) => exemptions(labelsOf(attributes)).add(),
    failed: (fatal, attributes) => errors([String(fatal), ...labelsOf(attributes)]).add(),
  }
}

const labelsOf = ({ operation, resource: { groupResource }, subresource }: AdmissionAttributes): string[] => [
  operation.toLowerCase(),
  groupResource.group === '' && groupResource.name === 'pods' ? 'pod' : 'controller',
  subresource,
]
