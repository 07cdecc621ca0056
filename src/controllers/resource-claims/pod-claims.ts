/** Creates the claims of pods from templates. */
import { claimFrom, claimName, type PodClaim, podClaimAnnotation } from '../../api/dra/pod-claims.ts'
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, resourceClaimTemplates as templates } from '../../client/kinds.ts'
import { messageOf } from '../api-errors.ts'
import { byController, isControlledBy } from '../pods/owners/owner.ts'
import type { ClaimMetrics } from './metrics.ts'

export class PodClaims {
  readonly #metrics: ClaimMetrics
  /** Names of created claims that may not be in the cache yet, by pod and claim. */
  readonly #created = new Map<string, string>()

  constructor(metrics: ClaimMetrics) {
    this.#metrics = metrics
  }

  /**
   * Resolves with the name of the pod's claim, creating it if needed; '' if none is needed, undefined if not possible
   * yet.
   */
  async ensure(pod: Pod, podClaim: PodClaim, context: ReconcileContext): Promise<string | undefined> {
    const known = claimName(pod, podClaim)
    const { name, resourceClaimTemplateName: template } = podClaim
    if (known === '' || !template) return known
    return this.#find(pod, name, known, context) ?? (await this.#create(pod, name, template, context))
  }

  /** Drops the created claims of a deleted pod. */
  forget(pod: Pod): void {
    for (const { name } of pod.spec?.resourceClaims ?? []) this.#created.delete(createdKey(pod, name))
  }

  /** The name of the claim that was made for the pod. `known`: the name in the pod's status. */
  #find(pod: Pod, name: string, known: string | undefined, { caches }: ReconcileContext): string | undefined {
    const { namespace = '', uid = '' } = pod.metadata
    const existing = known === undefined ? undefined : caches.get(claims, namespace, known)
    if (existing && isControlledBy(existing, pod)) return known
    for (const { metadata } of caches.by(claims, byController, uid))
      if (metadata.annotations?.[podClaimAnnotation] === name) return metadata.name
    const created = this.#created.get(createdKey(pod, name))
    return created === known ? undefined : created
  }

  async #create(
    pod: Pod,
    name: string,
    templateName: string,
    { caches, client, events }: ReconcileContext,
  ): Promise<string | undefined> {
    const template = caches.get(templates, pod.metadata.namespace ?? '', templateName)
    try {
      if (!template) throw new Error(templateNotFound(templateName))
      const { metadata } = await client.create(claims, claimFrom(template, pod, name)).catch((error) => {
        this.#metrics.countCreation('failure', template.spec?.spec)
        throw error
      })
      this.#metrics.countCreation('success', template.spec?.spec)
      this.#created.set(createdKey(pod, name), metadata.name ?? '')
      return metadata.name
    } catch (error) {
      events.record(pod, 'Warning', 'FailedResourceClaimCreation', `PodResourceClaim ${name}: ${messageOf(error)}`)
      // A new template requeues its pods.
      if (template) throw error
      return undefined
    }
  }
}

const createdKey = ({ metadata }: Pod, claim: string): string => `${metadata.uid}/${claim}`

/** Upstream's message. */
function templateNotFound(name: string): string {
  const quoted = JSON.stringify(name)
  return `resource claim template ${quoted}: resourceclaimtemplate.resource.k8s.io ${quoted} not found`
}
