/** Creates and deletes the claim for a pod's extended resources, and sets the pod's status. */
import { pods, type ResourceClaim, resourceClaims } from '../../../../client/kinds.ts'
import type { RestClient } from '../../../../client/rest/rest-client.ts'
import { StatusError } from '../../../../machinery/status-error.ts'
import type { PodInfo } from '../../../framework/index.ts'
import { withoutProtection } from '../claims/publish.ts'
import type { RequestMapping } from './claim.ts'

/** Returns the claim as created. */
export function createClaim(claim: ResourceClaim, client: RestClient): Promise<ResourceClaim> {
  const { uid: _, name: __, ...metadata } = claim.metadata
  return client.create(resourceClaims, { ...claim, metadata })
}

/** Sets the claim in the pod's status. */
export async function setPodStatus(
  { namespace, name, pod }: PodInfo,
  claim: ResourceClaim,
  mappings: readonly RequestMapping[],
  client: RestClient,
): Promise<void> {
  const extendedResourceClaimStatus = { resourceClaimName: claim.metadata.name, requestMappings: mappings }
  await client.patch(
    pods,
    namespace,
    name,
    { metadata: { uid: pod.metadata.uid }, status: { extendedResourceClaimStatus } },
    'strategic',
    'status',
  )
}

/** Deletes the claim even if it is allocated. */
export async function deleteClaim(claim: ResourceClaim, client: RestClient): Promise<void> {
  const { namespace = '', name = '', uid } = claim.metadata
  try {
    await client.update(resourceClaims, withoutProtection(claim))
    await client.delete(resourceClaims, namespace, name, { uid })
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 404) throw error
  }
}
