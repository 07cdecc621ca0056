/** Server-side apply: PATCH with `application/apply-patch+yaml` (KEP-555). Creates the object if it does not exist. */
import { runWithPauses } from '../../lib/flow/steps.ts'
import { conflict, notFound, objectModified } from '../../machinery/status-error.ts'
import { applySteps } from '../apply/index.ts'
import { representationFor } from '../negotiation/choose.ts'
import { otherVersionOf } from '../registry/write/other-version.ts'
import { updateObject } from '../registry/write/update-object.ts'
import { resetFields } from '../registry/write/write-context.ts'
import { decodeApplied, readApplied } from '../request/bodies/read-applied.ts'
import { checkName, checkNamespace } from '../request/identity.ts'
import { namesVersion } from '../request-options/parameters.ts'
import { writeOptions } from '../request-options/write-options.ts'
import { type Endpoint, objectResponse, writeContext } from './endpoint.ts'

export const apply: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'object', services.registry.clock)
  const options = writeOptions(request.query, 'PatchOptions', true)
  const body = await readApplied(request, options)
  const { uid, resourceVersion } = body
  const { namespace, name } = request.info
  const context = writeContext(target, options)
  await context.pause()
  const { object, created } = await updateObject(context, {
    mayCreate: true,
    conditional: namesVersion(resourceVersion),
    change: async (live) => {
      if (!live && context.subresource) throw notFound(resource.groupResource, name)
      if (!live && uid)
        throw conflict(
          resource.groupResource,
          name,
          `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
        )
      if (live && resourceVersion && resourceVersion !== live.metadata.resourceVersion)
        throw conflict(resource.groupResource, name, objectModified)
      const steps = applySteps({
        live,
        applied: body.value(),
        kind: resource.definition.kind,
        type: resource.type,
        apiVersion: resource.groupVersion,
        manager: context.manager,
        force: options.force,
        subresource: context.subresource,
        now: context.now(),
        resetFields: resetFields(resource, context.subresource),
        otherVersion: otherVersionOf(context),
      })
      const { object: applied } = await runWithPauses(steps, context.pause)
      body.checkStrictly()
      await context.pause()
      const object = decodeApplied(resource, applied)
      checkName(object, name)
      checkNamespace(object, resource, namespace)
      return { object, tracked: true }
    },
  })
  return objectResponse(representation, object, created ? 201 : 200)
}
