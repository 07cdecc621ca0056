/** Writes the claim of a pod's extended resources, and tells the pod; or takes it away again. */
import { pods, type ResourceClaim, resourceClaims } from '../../../../client/kinds.ts'
import type { RestClient } from '../../../../client/rest/rest-client.ts'
import { StatusError } from '../../../../machinery/status-error.ts'
import type { PodInfo } from '../../../framework/index.ts'
import { withoutProtection } from '../claims/publish.ts'
import type { RequestMapping } from './claim.ts'

/** The claim as the server has it. */
export function create(claim: ResourceClaim, client: RestClient): Promise<ResourceClaim> {
  const { uid: _, name: __, ...metadata } = claim.metadata
  return client.create(resourceClaims, { ...claim, metadata })
}

/** Says in the pod's status which claim has its devices. */
export async function tellPod(
  { namespace, name, pod }: PodInfo,
  claim: ResourceClaim,
  mappings: readonly RequestMapping[],
  client: RestClient,
): Promise<void> {
  const told = { resourceClaimName: claim.metadata.name, requestMappings: mappings }
  await client.patch(
    pods,
    namespace,
    name,
    { metadata: { uid: pod.metadata.uid }, status: { extendedResourceClaimStatus: told } },
    'strategic',
    'status',
  )
}

/** The claim goes, whatever it has. */
export async function remove(claim: ResourceClaim, client: RestClient): Promise<void> {
  const { namespace = '', name = '', uid } = claim.metadata
  try {
    await client.update(resourceClaims, withoutProtection(claim))
    await client.delete(resourceClaims, namespace, name, { uid })
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 404) throw error
  }
}
