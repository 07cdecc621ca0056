/** A request as webhooks and expressions receive it: the fields of AdmissionRequest (admission.k8s.io/v1). */

import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes, GroupVersionKind } from '../../registry/write/admission.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { DeleteOptions } from '../../request-options/delete-options.ts'
import { kindOf, type VersionedObjects } from './versions.ts'

const kindNames = ({ group, version, kind }: GroupVersionKind) => ({ group, version, kind })
const resourceNames = ({ definition: { group, version, plural } }: ServedResource) => ({
  group,
  version,
  resource: plural,
})

/** All fields except the uid and the objects. */
export function admissionRequest(
  attributes: AdmissionAttributes,
  { resource, kind }: VersionedObjects,
): Record<string, unknown> {
  const { subresource, name, operation, user, dryRun } = attributes
  const namespace = namespaceOf(attributes)
  const options = operationOptions(attributes)
  return {
    kind: kindNames(kind),
    resource: resourceNames(resource),
    ...(subresource && { subResource: subresource }),
    requestKind: kindNames(kindOf(attributes)),
    requestResource: resourceNames(attributes.resource),
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: userInfo(user),
    dryRun,
    ...(options && { options }),
  }
}

/** The namespace of a namespace is itself. */
const namespaceOf = ({ resource: { definition }, namespace, name }: AdmissionAttributes): string =>
  definition.group === '' && definition.plural === 'namespaces' ? name : namespace

const userInfo = ({ name, uid, groups, extra }: UserInfo) => ({
  username: name,
  ...(uid && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(extra && Object.keys(extra).length > 0 && { extra }),
})

const optionKinds = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: undefined,
} as const

/** The options of the operation as an object. A PATCH has those of the resulting operation. */
function operationOptions({
  operation,
  options,
  deletion,
  dryRun,
}: AdmissionAttributes): Record<string, unknown> | undefined {
  const kind = optionKinds[operation]
  if (!kind) return undefined
  const named = { kind, apiVersion: 'meta.k8s.io/v1' }
  if (operation === 'DELETE') return { ...named, ...(deletion && deleteOptions(deletion)) }
  const { fieldManager, fieldValidation, validationGiven } = options
  return {
    ...named,
    ...(dryRun && { dryRun: ['All'] }),
    ...(fieldManager && { fieldManager }),
    ...(validationGiven && { fieldValidation }),
  }
}

const deleteOptions = ({
  gracePeriodSeconds,
  preconditions,
  propagationPolicy,
  orphanDependents,
  dryRun,
}: DeleteOptions) => ({
  ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  ...(preconditions && { preconditions }),
  ...(orphanDependents !== undefined && { orphanDependents }),
  ...(propagationPolicy !== undefined && { propagationPolicy }),
  ...(dryRun && { dryRun: ['All'] }),
})
