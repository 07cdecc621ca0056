/** Finds the desired replicas of a pod's controller, or of that controller's controller. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { deployments, replicaSets, replicationControllers, statefulSets } from '../../client/kinds.ts'
import { controllerOf } from '../../client/objects/owners.ts'
import { type Resource, resource } from '../../client/resource.ts'
import type { KubeObject, OwnerReference } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'

export interface WorkloadScale {
  readonly uid: string
  readonly replicas: number
}

type Context = Pick<ReconcileContext, 'client' | 'caches'>
type Scale = KubeObject & { readonly spec?: { readonly replicas?: number } }

interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number }
}

const refersTo = ({ apiVersion, kind }: OwnerReference, of: Resource): boolean =>
  kind === of.kind &&
  (apiVersion.includes('/') ? [of.group, 'extensions'].includes(apiVersion.split('/')[0] ?? '') : of.group === '')

/** Returns the scale of an owner; undefined if it does not exist or was replaced. Rejects for kinds without scale. */
export async function scaleOf(
  reference: OwnerReference,
  namespace: string,
  context: Context,
): Promise<WorkloadScale | undefined> {
  const known = <T extends Workload>(of: Resource<T>, { name, uid }: OwnerReference): T | undefined => {
    const workload = context.caches.get(of, namespace, name)
    return workload?.metadata.uid === uid ? workload : undefined
  }
  const scale = ({ metadata, spec }: Workload): WorkloadScale => ({
    uid: metadata.uid ?? '',
    replicas: spec?.replicas ?? 0,
  })
  if (refersTo(reference, replicationControllers)) {
    const found = known(replicationControllers, reference)
    if (found) return scale(found)
  }
  if (refersTo(reference, replicaSets)) {
    const found = known(replicaSets, reference)
    const parent = found && controllerOf(found)
    const deployment = parent && refersTo(parent, deployments) ? known(deployments, parent) : undefined
    if (deployment) return scale(deployment)
    if (found && parent?.kind !== deployments.kind) return scale(found)
  }
  if (refersTo(reference, statefulSets)) {
    const found = known(statefulSets, reference)
    if (found) return scale(found)
  }
  return await scaleByApi(reference, namespace, context)
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

/** Reads the scale subresource of any other kind, including custom ones. */
async function scaleByApi(
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string,
  { client }: Context,
): Promise<WorkloadScale | undefined> {
  const unknown = new Error(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
  const list = await client
    .request<ResourceList>('GET', `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}`)
    .catch((error) => {
      throw isMissing(error) ? unknown : error
    })
  const served = list.resources.find((one) => one.kind === kind && !one.name.includes('/'))
  if (!served) throw unknown
  const of = resource<Scale>(apiVersion, kind, served.name, served.namespaced)
  try {
    const { metadata, spec } = await client.get(of, namespace, name, 'scale')
    return metadata.uid === uid ? { uid, replicas: spec?.replicas ?? 0 } : undefined
  } catch (error) {
    if (!isMissing(error)) throw error
    if (list.resources.some((one) => one.name === `${served.name}/scale`)) return undefined
    throw new Error(`${of.group ? `${served.name}.${of.group}` : served.name} does not implement the scale subresource`)
  }
}

const isMissing = (error: unknown): boolean => error instanceof StatusError && error.code === 404
