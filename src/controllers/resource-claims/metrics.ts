/** Metrics of ResourceClaims (`resourceclaim_controller_*`). */
import { podClaimAnnotation } from '../../api/dra/pod-claims.ts'
import type { ResourceClaim } from '../../client/kinds.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** The annotation on claims that the scheduler creates for extended resources (KEP-5004). */
const extendedResourceAnnotation = 'resource.kubernetes.io/extended-resource-claim'

export class ClaimMetrics {
  readonly #creations
  #claims: () => Iterable<ResourceClaim> = () => []

  constructor(registry = new MetricsRegistry()) {
    this.#creations = registry.counter(
      'resourceclaim_controller_creates_total',
      'Number of ResourceClaims creation requests, categorized by creation status and admin access',
      ['status', 'admin_access'],
    )
    const labels = ['allocated', 'admin_access', 'source']
    registry.gauge(
      'resourceclaim_controller_resource_claims',
      'Number of ResourceClaims, categorized by allocation status, admin access, and source.',
      labels,
      () => {
        const groups = Map.groupBy(this.#claims(), (claim) => labelsOf(claim).join())
        return [...groups.values()].map((claims) => [labelsOf(claims[0]!), claims.length])
      },
    )
  }

  /** Sets the claims that the gauge reads. */
  setClaims(claims: () => Iterable<ResourceClaim>): void {
    this.#claims = claims
  }

  countCreation(status: 'success' | 'failure', spec: ResourceClaim['spec']): void {
    this.#creations([status, adminAccess(spec)]).add()
  }
}

const adminAccess = (spec: ResourceClaim['spec']): string =>
  `${spec?.devices?.requests?.some(({ exactly }) => exactly?.adminAccess) ?? false}`

const labelsOf = ({ metadata, spec, status }: ResourceClaim): string[] => [
  `${status?.allocation !== undefined}`,
  adminAccess(spec),
  sourceOf(metadata.annotations),
]

function sourceOf(annotations: Readonly<Record<string, string>> = {}): string {
  if (annotations[podClaimAnnotation] !== undefined) return 'resource_claim_template'
  return annotations[extendedResourceAnnotation] === 'true' ? 'extended_resource' : ''
}
