/** A pod with everything that scheduling reads repeatedly, computed once. */
import type { Pod } from '../../../client/kinds.ts'
import type { Labels } from '../../../machinery/selectors/label-selector.ts'
import type { Resources } from '../resources.ts'
import { type AffinityTerm, affinityTerms, type WeightedAffinityTerm } from './affinity-terms.ts'
import { type HostPort, hostPortsOf } from './host-ports.ts'
import { podRequests } from './pod-requests.ts'

const noLabels: Labels = {}
const noClaims: readonly string[] = []

/** All fields are shared and must not be changed. */
export class PodInfo {
  readonly pod: Pod
  readonly uid: string
  readonly labels: Labels
  readonly priority: number
  readonly requests: Readonly<Resources>
  /** The requests for scores: containers without requests count with a default. */
  readonly nonZeroRequests: Readonly<Pick<Resources, 'milliCPU' | 'memory'>>
  readonly requiredAffinity: readonly AffinityTerm[]
  readonly preferredAffinity: readonly WeightedAffinityTerm[]
  readonly requiredAntiAffinity: readonly AffinityTerm[]
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[]
  readonly hostPorts: readonly HostPort[]
  /** Keys (`namespace/name`) of the claims of its volumes, ephemeral ones included. */
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
