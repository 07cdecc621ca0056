/** Metrics of Pod Security, by upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { kubernetesMinor } from '../../../lib/release.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { type LevelVersion, type Mode, versionText } from './policy/policy.ts'

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
    'Policy evaluations, not counting ignored and exempt requests.',
    ['decision', 'policy_level', 'policy_version', 'mode', ...common],
  )
  const exemptions = registry.counter(
    'pod_security_exemptions_total',
    'Exempt requests, not counting ignored ones.',
    common,
  )
  const errors = registry.counter('pod_security_errors_total', 'Errors that prevented a normal policy evaluation.', [
    'fatal',
    ...common,
  ])
  const version = (standard: LevelVersion): string => {
    if (standard.level === 'privileged' || standard.version === 'latest') return 'latest'
    // Namespace labels may name any version: one series for all future versions bounds their number.
    return standard.version > kubernetesMinor ? 'future' : versionText(standard)
  }
  // Most requests are of these series, which upstream creates at the start.
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
