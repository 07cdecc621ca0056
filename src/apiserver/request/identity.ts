/** Checks that an object from a client matches the URL. */
import type { KubeObject } from '../../machinery/object.ts'
import { badRequest } from '../../machinery/status-error.ts'
import type { ServedResource } from '../registry/served-resource.ts'

/** Throws 400 if the body has another namespace than the URL. */
export function checkNamespace({ metadata }: KubeObject, { namespaced }: ServedResource, namespace: string): void {
  if (namespaced && metadata.namespace && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** Throws 400 if the body has no name, or another one than the URL. */
export function checkName({ metadata }: KubeObject, name: string): void {
  if (!metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
}
