/** `/scale`: the replicas of a workload as an autoscaling/v1 Scale. */

import { scales } from '../../../api/autoscaling/scale.ts'
import type { ScalePaths } from '../../../api/resource.ts'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta, Unstructured } from '../../../machinery/object.ts'
import { labelSelectorText, labelsText } from '../../../machinery/selectors/label-selector.ts'
import {
  conflict,
  invalid,
  notFound,
  objectModified,
  type StatusError,
  statusOf,
} from '../../../machinery/status-error.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import { applyPatch, managedFieldsFromScale, scaleManagedFields, trackUpdate } from '../../apply/index.ts'
import type { Response } from '../../http/exchange.ts'
import { representationFor } from '../../negotiation/choose.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import { unstored } from '../../registry/stored-object.ts'
import { checkUid, updateObject } from '../../registry/write/update-object.ts'
import { attributes, type WriteContext } from '../../registry/write/write-context.ts'
import { decodeObject } from '../../request/bodies/decode-object.ts'
import { applyType, decodeApplied, readApplied } from '../../request/bodies/read-applied.ts'
import { readPatch } from '../../request/bodies/read-patch.ts'
import { checkName, checkNamespace } from '../../request/identity.ts'
import { mediaType } from '../../request-options/body.ts'
import { namesVersion } from '../../request-options/parameters.ts'
import { type WriteOptions, writeOptions } from '../../request-options/write-options.ts'
import { type Endpoint, objectResponse, type Target, writeContext } from '../endpoint.ts'

interface Scale extends KubeObject {
  spec: { replicas?: number }
  status: { replicas: number; selector?: string }
}

const scaleResource = new ServedResource(scales)

const fieldAt = (object: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) => (key === '' ? value : (value as Record<string, unknown> | undefined)?.[key]),
      object,
    )

/** The paths of a resource's scale. Only called for resources that have one. */
const pathsOf = ({ definition }: ServedResource): ScalePaths => definition.subresources!.scale!

const selectorOf = (selector: unknown): string | undefined =>
  selector === undefined
    ? undefined
    : typeof selector === 'string'
      ? selector
      : isLabelSelector(selector)
        ? labelSelectorText(selector)
        : labelsText(selector as Record<string, string>)
const isLabelSelector = (selector: unknown): selector is { matchLabels?: Record<string, string> } =>
  typeof selector === 'object' && selector !== null && ('matchLabels' in selector || 'matchExpressions' in selector)

function scaleOf(resource: ServedResource, object: KubeObject): Scale {
  const paths = pathsOf(resource)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const metadata: ObjectMeta = { name, namespace, uid, resourceVersion, creationTimestamp }
  const replicas = fieldAt(object, paths.replicas) as number | undefined
  const selector = paths.selector ? selectorOf(fieldAt(object, paths.selector)) : undefined
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: replicas ? { replicas } : {},
    status: { replicas: (fieldAt(object, paths.observed) as number | undefined) ?? 0, ...(selector && { selector }) },
  }
}

export const getScale: Endpoint = async ({ services: { registry }, request, resource }) => {
  const representation = representationFor(request, scaleResource, 'object', registry.clock)
  const { namespace, name } = request.info
  const object = await registry.current(resource, resource.key(namespace, name))
  if (!object) throw notFound(resource.groupResource, name)
  checkReplicas(resource, object.parse())
  return objectResponse(representation, unstored(scaleResource, scaleOf(resource, object.parse())))
}

/** Throws if a custom resource has no number of replicas: it has none unless it is set. */
function checkReplicas(resource: ServedResource, object: KubeObject): void {
  const { replicas } = pathsOf(resource)
  if (resource.definition.custom && fieldAt(object, replicas) === undefined)
    throw statusOf(new Error(`the spec replicas field ${JSON.stringify(replicas)} does not exist`))
}

export const updateScale: Endpoint = async (target) => {
  const { services, request } = target
  const options = writeOptions(request.query, 'UpdateOptions')
  const scale = (await decodeObject(request, scaleResource, options, services.knowsKind)) as Scale
  checkNamespace(scale, scaleResource, request.info.namespace)
  checkName(scale, request.info.name)
  const conditional = namesVersion(scale.metadata.resourceVersion)
  return writeScale(target, options, { change: () => ({ scale: structuredClone(scale) }), conditional })
}

export const patchScale: Endpoint = async (target) => {
  const { request, resource } = target
  const apply = mediaType(request) === applyType
  const options = writeOptions(request.query, 'PatchOptions', apply)
  if (!apply) {
    const { patched, conditional } = await readPatch(
      request,
      scaleResource,
      options,
      resource.definition.custom !== undefined,
    )
    return writeScale(target, options, {
      change: async (live) => ({ scale: (await patched(live)) as Scale }),
      conditional,
    })
  }
  const body = await readApplied(request, options)
  const { manager, now } = writeContext(target, options)
  return writeScale(target, options, {
    change(live) {
      const kind = { kind: 'Scale', type: scaleResource.type, apiVersion: scaleResource.groupVersion }
      const { object, managedFields } = applyPatch({
        ...kind,
        live,
        applied: body.value(),
        manager,
        force: options.force,
        subresource: 'scale',
        now: now(),
      })
      return { scale: decodeApplied(scaleResource, object) as Scale, managedFields: managedFields ?? [] }
    },
    conditional: namesVersion(body.resourceVersion),
    absent: notFound(target.resource.groupResource, request.info.name),
  })
}

interface ChangedScale {
  readonly scale: Scale
  /** The Scale's managers, if the change knows them (apply). */
  readonly managedFields?: ManagedFieldsEntry[]
}

interface ScaleWrite {
  readonly change: (live: Scale) => ChangedScale | Promise<ChangedScale>
  readonly conditional: boolean
  /** Thrown if the object does not exist. */
  readonly absent?: StatusError
}

async function writeScale(
  target: Target,
  options: WriteOptions,
  { change, conditional, absent }: ScaleWrite,
): Promise<Response> {
  const { services, request, resource } = target
  const representation = representationFor(request, scaleResource, 'object', services.registry.clock)
  const context = {
    ...writeContext(target, options),
    shownAs: { kind: scales, of: (object: KubeObject) => scaleOf(resource, object) },
  }
  const { object } = await updateObject(context, {
    conditional,
    startsFromLive: true,
    mayCreate: true,
    change: async (live) => {
      if (!live) throw absent ?? notFound(resource.groupResource, request.info.name)
      const before = scaleOf(resource, live)
      const replicas = { apiVersion: resource.groupVersion, path: replicasPath(resource).join('.') }
      const owners = scaleManagedFields(live.metadata.managedFields, replicas)
      // Leave out members that are undefined: a patch must not see them.
      if (owners) before.metadata.managedFields = owners
      const changed = await change(structuredClone(before))
      await services.admission.mutate({
        ...attributes(context, 'UPDATE'),
        object: changed.scale,
        old: before,
        kind: scales,
      })
      checkScale(resource, changed.scale, live)
      setReplicas(resource, live, changed.scale.spec?.replicas ?? 0)
      const newOwners = changed.managedFields ?? trackScale(before, changed.scale, context)
      const managedFields = managedFieldsFromScale(live.metadata.managedFields, newOwners, replicas)
      if (managedFields) live.metadata.managedFields = managedFields
      return { object: live, tracked: true }
    },
  })
  return objectResponse(representation, unstored(scaleResource, scaleOf(resource, object.parse())))
}

const trackScale = (live: Scale, object: Scale, { manager, now }: WriteContext): ManagedFieldsEntry[] | undefined =>
  trackUpdate({
    live,
    object,
    type: scaleResource.type,
    apiVersion: scaleResource.groupVersion,
    manager,
    subresource: 'scale',
    now: now(),
  })

/** Checks the preconditions and the Scale itself. */
function checkScale(resource: ServedResource, { metadata, spec }: Scale, live: KubeObject): void {
  const { uid, resourceVersion } = metadata
  const name = live.metadata.name!
  if (resourceVersion && resourceVersion !== live.metadata.resourceVersion)
    throw conflict(resource.groupResource, name, objectModified)
  checkUid({ resource, namespace: live.metadata.namespace ?? '', name }, uid, live.metadata.uid ?? '')
  // Custom resources are validated by their schema.
  if (!resource.definition.custom && (spec?.replicas ?? 0) < 0)
    throw invalid(scaleResource.groupKind, name, [
      invalidValue('spec.replicas', spec.replicas, 'must be greater than or equal to 0'),
    ])
}

const replicasPath = (resource: ServedResource): string[] => pathsOf(resource).replicas.split('.').filter(Boolean)

function setReplicas(resource: ServedResource, object: KubeObject, replicas: number): void {
  const path = replicasPath(resource)
  const parent = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>(
      (parent, key) => (parent[key] ??= {}) as Record<string, unknown>,
      object as Unstructured,
    )
  parent[path.at(-1)!] = replicas
}
