/** A pod with all that scheduling asks of it again and again, worked out once. */
import type { Pod } from '../../../client/kinds.ts'
import type { Labels } from '../../../machinery/selectors/label-selector.ts'
import type { Resources } from '../resources.ts'
import { type AffinityTerm, affinityTerms, type WeightedAffinityTerm } from './affinity-terms.ts'
import { type HostPort, hostPortsOf } from './host-ports.ts'
import { podRequests } from './pod-requests.ts'

const noLabels: Labels = {}
const noClaims: readonly string[] = []

/** Everything here is shared: nothing of it may be changed. */
export class PodInfo {
  readonly pod: Pod
  readonly uid: string
  readonly labels: Labels
  readonly priority: number
  readonly requests: Readonly<Resources>
  /** What it counts for in scores: something is assumed for containers that ask for nothing. */
  readonly nonZeroRequests: Readonly<Pick<Resources, 'milliCPU' | 'memory'>>
  readonly requiredAffinity: readonly AffinityTerm[]
  readonly preferredAffinity: readonly WeightedAffinityTerm[]
  readonly requiredAntiAffinity: readonly AffinityTerm[]
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[]
  readonly hostPorts: readonly HostPort[]
  /** Keys (`namespace/name`) of the claims that its volumes name, ephemeral ones included. */
  readonly claims: readonly string[]

  constructor(pod: Pod) {
    const { namespace = '', uid = '', labels } = pod.metadata
    this.pod = pod
    this.uid = uid || this.key
    this.labels = labels ?? noLabels
    this.priority = pod.spec?.priority ?? 0
    const { requests, nonZero } = podRequests(pod)
    this.requests = requests
    this.nonZeroRequests = nonZero
    const near = affinityTerms(pod.spec?.affinity?.podAffinity, namespace)
    const far = affinityTerms(pod.spec?.affinity?.podAntiAffinity, namespace)
    this.requiredAffinity = near.required
    this.preferredAffinity = near.preferred
    this.requiredAntiAffinity = far.required
    this.preferredAntiAffinity = far.preferred
    this.hostPorts = hostPortsOf(pod)
    this.claims = claimsOf(pod)
  }

  get name(): string {
    return this.pod.metadata.name ?? ''
  }

  get namespace(): string {
    return this.pod.metadata.namespace ?? ''
  }

  /** `namespace/name`. */
  get key(): string {
    return `${this.namespace}/${this.name}`
  }

  get hasAffinity(): boolean {
    return (
      this.requiredAffinity.length +
        this.preferredAffinity.length +
        this.requiredAntiAffinity.length +
        this.preferredAntiAffinity.length >
      0
    )
  }
}

function claimsOf({ metadata: { namespace, name }, spec }: Pod): readonly string[] {
  let found: string[] | undefined
  for (const volume of spec?.volumes ?? []) {
    const claim = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${name}-${volume.name}`)
    if (claim) (found ??= []).push(`${namespace}/${claim}`)
  }
  return found ?? noClaims
}
