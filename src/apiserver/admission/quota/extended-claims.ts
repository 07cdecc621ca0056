/**
 * Counts the devices of ResourceClaims as extended resources too, if their device class maps to one (KEP-5004). The
 * claim that the scheduler creates for a pod with such a request is already charged with the pod.
 */
import type { V1DeviceClass } from '@kubernetes/client-node'
import type { Pod } from '../../../api/core/pod/model.ts'
import { deviceClassPrefix, type ResourceList } from '../../../api/core/quota/resource-list.ts'
import { positiveDifference } from '../../../api/core/quota/resource-lists.ts'
import { isExtendedRequest, podUsage } from '../../../api/core/quota/usage/pods.ts'
import type { KubeObject, Model, OwnerReference } from '../../../machinery/object.ts'
import { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { PluginSources } from '../plugin.ts'
import { type Evaluator, evaluatorOf } from './evaluators.ts'
import type { UsageCounter } from './usage-counter.ts'

const devicesOfClass = '.deviceclass.resource.k8s.io/devices'
const requests = 'requests.'
const claimAnnotation = 'resource.kubernetes.io/extended-resource-claim'

type ClaimedPod = Pod & {
  readonly status?: { readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string } }
}

/** The extended resource of a device class; undefined if it has none. */
interface KnownClass {
  readonly resource?: string
}

export interface ExtendedClaims {
  readonly evaluator: Evaluator
  start(): Promise<void>
  stop(): void
}

export function extendedClaims(
  { registry, find, log }: PluginSources,
  claims: ServedResource,
  counted: Pick<UsageCounter, 'object' | 'objects'>,
): ExtendedClaims {
  const plain = evaluatorOf(claims)!
  const pods = find('v1/pods')
  const classes = new FollowedObjects<KnownClass>({
    registry,
    resource: find('resource.k8s.io/v1/deviceclasses'),
    read: (object) => ({ resource: object.parse<Model<V1DeviceClass>>().spec?.extendedResourceName }),
    log,
  })
  const pod = podUsage()

  return {
    evaluator: {
      ...plain,
      matching: (names) =>
        names.filter(
          (name) =>
            plain.matching([name]).length > 0 ||
            (isExtendedRequest(name) && standsForDevices(name.slice(requests.length))),
        ),
      usage(claim) {
        const usage = plain.usage(claim)
        return { ...usage, ...positiveDifference(extendedUsage(usage), paidWithPod(claim)) }
      },
      // Classes and pods change independently of the claim.
      changesOverTime: () => true,
    },
    start: () => classes.start(),
    stop: () => classes.stop(),
  }

  function standsForDevices(resource: string): boolean {
    if (resource.startsWith(deviceClassPrefix))
      return classes.get('', resource.slice(deviceClassPrefix.length)) !== undefined
    return [...classes.all()].some((known) => known.resource === resource)
  }

  function extendedUsage(usage: ResourceList): ResourceList {
    const extended: ResourceList = {}
    for (const [name, amount] of Object.entries(usage)) {
      if (!name.endsWith(devicesOfClass)) continue
      const deviceClass = name.slice(0, -devicesOfClass.length)
      extended[`${requests}${deviceClassPrefix}${deviceClass}`] = amount
      const resource = classes.get('', deviceClass)?.resource
      if (resource) extended[`${requests}${resource}`] = amount
    }
    return extended
  }

  /** Returns the usage already charged with the claim's pod; empty for other claims. */
  function paidWithPod(claim: KubeObject): ResourceList {
    const owner = podOf(claim)
    if (!owner) return {}
    const namespace = claim.metadata.namespace ?? ''
    const found = counted.object<ClaimedPod>(pods, namespace, owner.name)
    if (found?.metadata.uid !== owner.uid) return {}
    const status = found.status?.extendedResourceClaimStatus
    const isIts = status ? status.resourceClaimName === claim.metadata.name : isFirst(claim, owner.uid)
    return isIts ? pod.usage(found) : {}
  }

  /** Only the oldest claim of a pod is charged with it. */
  function isFirst(claim: KubeObject, uid: string): boolean {
    const age = ({ metadata }: KubeObject): number =>
      Date.parse(metadata.creationTimestamp ?? '') || Number.POSITIVE_INFINITY
    for (const other of counted.objects(claims, claim.metadata.namespace ?? '')) {
      if (podOf(other)?.uid !== uid) continue
      if (
        age(other) < age(claim) ||
        (age(other) === age(claim) && (other.metadata.name ?? '') < (claim.metadata.name ?? ''))
      )
        return false
    }
    return true
  }
}

/** The pod for which the scheduler created the claim. */
function podOf({ metadata }: KubeObject): OwnerReference | undefined {
  if (metadata.annotations?.[claimAnnotation] !== 'true') return undefined
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return owner?.kind === 'Pod' && owner.apiVersion === 'v1' ? owner : undefined
}
