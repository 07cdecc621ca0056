/** Server-side apply: PATCH with `application/apply-patch+yaml` (KEP-555). Creates the object if it is not there. */
import { badRequest, conflict, invalid, objectModified } from '../../machinery/status-error.ts'
import { DecodeError, decode } from '../../machinery/decode/index.ts'
import { invalidValue } from '../../machinery/field-error.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { parseYaml, YamlError } from '../../machinery/yaml.ts'
import { applyPatch } from '../apply/index.ts'
import { representationFor } from '../negotiation/representation.ts'
import { maxBodyBytes } from '../request/body.ts'
import { checkName, checkNamespace } from '../request/identity.ts'
import { writeOptions } from '../request/write-options.ts'
import { resetFields } from '../registry/write-context.ts'
import { updateObject } from '../registry/update-object.ts'
import type { Request } from '../http/exchange.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { type Endpoint, objectResponse, writeContext } from './endpoint.ts'

const retries = 5

export const apply: Endpoint = async (target) => {
  const { request, resource } = target
  const representation = representationFor(request, resource, 'object')
  const options = writeOptions(request.query, 'PatchOptions', true)
  const body = await readApplied(request, options.fieldValidation === 'Ignore')
  const { namespace, name } = request.info
  const context = writeContext(target, options)
  const { object, created } = await updateObject(context, {
    mayCreate: !context.subresource,
    startsFromLive: true,
    retries,
    change: (live) => {
      const { uid, resourceVersion } = metadataOf(body)
      if (!live && uid) throw conflict(resource.groupResource, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
      if (live && resourceVersion && resourceVersion !== live.metadata.resourceVersion) throw conflict(resource.groupResource, name, objectModified)
      const { object: applied } = applyPatch({
        live,
        applied: body,
        kind: resource.definition.kind,
        type: resource.type,
        apiVersion: resource.groupVersion,
        manager: context.manager,
        force: options.force,
        subresource: context.subresource,
        now: context.now(),
        resetFields: resetFields(resource, context.subresource),
      })
      const object = decodeApplied(resource, applied)
      checkName(object, name)
      checkNamespace(object, resource, namespace)
      return { object, tracked: true }
    },
  })
  return objectResponse(representation, object, created ? 201 : 200)
}

const metadataOf = (body: unknown): Partial<KubeObject['metadata']> => (body as Partial<KubeObject> | null)?.metadata ?? {}

async function readApplied(request: Request, quiet: boolean): Promise<unknown> {
  const text = (await request.body(maxBodyBytes)).toString()
  try {
    const { value, strict } = parseYaml(text)
    // Keys that stand twice only warn, whatever fieldValidation says.
    if (!quiet) for (const problem of strict) request.warnings.push(...problem.split('\n').slice(1).map((line) => line.trim()))
    return value
  } catch (error) {
    if (error instanceof YamlError) throw badRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
}

function decodeApplied(resource: ServedResource, applied: KubeObject): KubeObject {
  try {
    const object = decode(resource.type, applied).object as unknown as KubeObject
    object.metadata ??= {}
    resource.applyDefaults(object)
    return object
  } catch (error) {
    if (error instanceof DecodeError) throw invalid(resource.groupKind, applied.metadata?.name ?? '', [invalidValue('patch', JSON.stringify(applied), error.message)])
    throw error
  }
}
