/**
 * Counts the devices of ResourceClaims as extended resources too, if their device class maps to one (KEP-5004). The
 * claim that the scheduler creates for a pod with such a request is already charged with the pod.
 */
import type { V1DeviceClass } from '@kubernetes/client-node'
import type { Pod } from '../../../../api/core/pod/model.ts'
import { deviceClassPrefix, type ResourceList } from '../../../../api/core/quota/resource-list.ts'
import { positiveDifference } from '../../../../api/core/quota/resource-lists.ts'
import { isExtendedRequest, podUsage } from '../../../../api/core/quota/usage/pods.ts'
import type { KubeObject, Model, OwnerReference } from '../../../../machinery/object.ts'
import { Informer } from '../../../registry/informer.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { PluginSources } from '../../plugin.ts'
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

/** The objects that quotas count. */
type CountedObjects = Pick<UsageCounter, 'object' | 'objects'>

export class ExtendedClaims {
  readonly evaluator: Evaluator
  readonly #claims: ServedResource
  readonly #pods: ServedResource
  readonly #classes: Informer<KnownClass>
  readonly #counted: CountedObjects
  readonly #podUsage = podUsage()

  constructor({ registry, find, log }: PluginSources, claims: ServedResource, counted: CountedObjects) {
    this.#claims = claims
    this.#pods = find('v1/pods')
    this.#counted = counted
    this.#classes = new Informer<KnownClass>({
      registry,
      resource: find('resource.k8s.io/v1/deviceclasses'),
      read: (object) => ({ resource: object.parse<Model<V1DeviceClass>>().spec?.extendedResourceName }),
      log,
    })
    const plain = evaluatorOf(claims)!
    this.evaluator = {
      ...plain,
      matching: (names) => names.filter((name) => plain.matching([name]).length > 0 || this.#matches(name)),
      usage: (claim) => {
        const usage = plain.usage(claim)
        return { ...usage, ...positiveDifference(this.#extendedUsage(usage), this.#paidWithPod(claim)) }
      },
      // Classes and pods change independently of the claim.
      changesOverTime: () => true,
    }
  }

  /** Resolves when all device classes have been loaded. */
  start(): Promise<void> {
    return this.#classes.start()
  }

  stop(): void {
    this.#classes.stop()
  }

  /** Returns true for the name of an extended resource that stands for devices. */
  #matches(name: string): boolean {
    if (!isExtendedRequest(name)) return false
    const resource = name.slice(requests.length)
    if (resource.startsWith(deviceClassPrefix))
      return this.#classes.get('', resource.slice(deviceClassPrefix.length)) !== undefined
    return [...this.#classes.all()].some((known) => known.resource === resource)
  }

  #extendedUsage(usage: ResourceList): ResourceList {
    const extended: ResourceList = {}
    for (const [name, amount] of Object.entries(usage)) {
      if (!name.endsWith(devicesOfClass)) continue
      const deviceClass = name.slice(0, -devicesOfClass.length)
      extended[`${requests}${deviceClassPrefix}${deviceClass}`] = amount
      const resource = this.#classes.get('', deviceClass)?.resource
      if (resource) extended[`${requests}${resource}`] = amount
    }
    return extended
  }

  /** Returns the usage already charged with the claim's pod; empty for other claims. */
  #paidWithPod(claim: KubeObject): ResourceList {
    const owner = podOf(claim)
    if (!owner) return {}
    const namespace = claim.metadata.namespace ?? ''
    const found = this.#counted.object<ClaimedPod>(this.#pods, namespace, owner.name)
    if (found?.metadata.uid !== owner.uid) return {}
    const status = found.status?.extendedResourceClaimStatus
    const isIts = status ? status.resourceClaimName === claim.metadata.name : this.#isFirst(claim, owner.uid)
    return isIts ? this.#podUsage.usage(found) : {}
  }

  /** Only the oldest claim of a pod is charged with it. */
  #isFirst(claim: KubeObject, uid: string): boolean {
    for (const other of this.#counted.objects(this.#claims, claim.metadata.namespace ?? ''))
      if (podOf(other)?.uid === uid && isOlder(other, claim)) return false
    return true
  }
}

/** Of claims of the same second, the one whose name sorts first counts as older. */
function isOlder({ metadata }: KubeObject, than: KubeObject): boolean {
  const [age, ageOfOther] = [createdAt(metadata), createdAt(than.metadata)]
  return age < ageOfOther || (age === ageOfOther && (metadata.name ?? '') < (than.metadata.name ?? ''))
}

const createdAt = ({ creationTimestamp }: KubeObject['metadata']): number =>
  Date.parse(creationTimestamp ?? '') || Number.POSITIVE_INFINITY

/** The pod for which the scheduler created the claim. */
function podOf({ metadata }: KubeObject): OwnerReference | undefined {
  if (metadata.annotations?.[claimAnnotation] !== 'true') return undefined
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return owner?.kind === 'Pod' && owner.apiVersion === 'v1' ? owner : undefined
}
