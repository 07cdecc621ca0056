/** `/scale`: the replicas of a workload as an autoscaling/v1 Scale. */
import type { KubeObject, ObjectMeta, Unstructured } from '../../machinery/object.ts'
import { conflict, notFound, objectModified } from '../../machinery/status-error.ts'
import { labelSelectorText, labelsText } from '../../machinery/label-selector.ts'
import type { ScalePaths } from '../../api/resource.ts'
import { scales } from '../../api/autoscaling/scale.ts'
import { representationFor } from '../negotiation/representation.ts'
import { decodeObject } from '../request/decode-object.ts'
import { checkName, checkNamespace } from '../request/identity.ts'
import { mediaType } from '../request/body.ts'
import { writeOptions } from '../request/write-options.ts'
import { ServedResource } from '../registry/served-resource.ts'
import { unstored } from '../registry/stored-object.ts'
import { updateObject } from '../registry/update-object.ts'
import { type Endpoint, objectResponse, type Target, writeContext } from './endpoint.ts'
import { readPatch } from '../request/read-patch.ts'

interface Scale extends KubeObject {
  spec: { replicas?: number }
  status: { replicas: number; selector?: string }
}

const scaleResource = new ServedResource(scales)

const at = (object: unknown, path: string): unknown => path.split('.').reduce<unknown>((value, key) => (key === '' ? value : (value as Record<string, unknown> | undefined)?.[key]), object)

/** The paths of a resource's scale; there are some, or this endpoint is not reached. */
const pathsOf = ({ definition }: ServedResource): ScalePaths => definition.subresources!.scale!

const selectorOf = (selector: unknown): string | undefined =>
  selector === undefined ? undefined : typeof selector === 'string' ? selector : isLabelSelector(selector) ? labelSelectorText(selector) : labelsText(selector as Record<string, string>)
const isLabelSelector = (selector: unknown): selector is { matchLabels?: Record<string, string> } => typeof selector === 'object' && selector !== null && ('matchLabels' in selector || 'matchExpressions' in selector)

function scaleOf(resource: ServedResource, object: KubeObject): Scale {
  const paths = pathsOf(resource)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const metadata: ObjectMeta = { name, namespace, uid, resourceVersion, creationTimestamp }
  const replicas = at(object, paths.replicas) as number | undefined
  const selector = selectorOf(at(object, paths.selector))
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: replicas ? { replicas } : {},
    status: { replicas: (at(object, paths.observed) as number | undefined) ?? 0, ...(selector && { selector }) },
  }
}

const missing = ({ groupResource }: ServedResource, name: string) => notFound({ group: groupResource.group, name: `${groupResource.name}/scale` }, name)

export const getScale: Endpoint = async ({ services: { registry }, request, resource }) => {
  const representation = representationFor(request, scaleResource, 'object')
  const { namespace, name } = request.info
  const object = await registry.get(resource, resource.key(namespace, name))
  if (!object) throw missing(resource, name)
  return objectResponse(representation, unstored(scaleResource, scaleOf(resource, object.parse())))
}

export const updateScale: Endpoint = async (target) => {
  const { services, request } = target
  const options = writeOptions(request.query, 'UpdateOptions')
  const scale = (await decodeObject(request, scaleResource, options, services.knowsKind)) as Scale
  checkNamespace(scale, target.resource, request.info.namespace)
  checkName(scale, request.info.name)
  return writeScale(target, options, () => scale)
}

export const patchScale: Endpoint = async (target) => {
  const options = writeOptions(target.request.query, 'PatchOptions', mediaType(target.request) === 'application/apply-patch+yaml')
  const patch = await readPatch(target.request, scaleResource, options)
  return writeScale(target, options, (live) => patch(live) as Scale)
}

async function writeScale(target: Target, options: ReturnType<typeof writeOptions>, change: (live: Scale) => Scale) {
  const { request, resource } = target
  const representation = representationFor(request, scaleResource, 'object')
  const { name } = request.info
  const { object } = await updateObject(writeContext(target, options), {
    retries: 5,
    startsFromLive: true,
    mayCreate: true,
    change: (live) => {
      if (!live) throw missing(resource, name)
      const scale = change(scaleOf(resource, live))
      const { resourceVersion, uid } = scale.metadata
      if (resourceVersion && resourceVersion !== live.metadata.resourceVersion) throw conflict(resource.groupResource, name, objectModified)
      if (uid && uid !== live.metadata.uid) throw conflict(resource.groupResource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`)
      const path = pathsOf(resource).replicas.split('.').filter(Boolean)
      const parent = path.slice(0, -1).reduce<Record<string, unknown>>((parent, key) => (parent[key] ??= {}) as Record<string, unknown>, live as Unstructured)
      parent[path.at(-1)!] = scale.spec?.replicas ?? 0
      return { object: live }
    },
  })
  return objectResponse(representation, unstored(scaleResource, scaleOf(resource, object.parse())))
}
