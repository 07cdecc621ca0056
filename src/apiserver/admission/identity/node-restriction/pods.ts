/** Nodes may create and delete their own mirror pods, update the status of their pods and evict them. */

import { apiReference } from '../../../../api/core/pod/references/api-references.ts'
import { isMirror, mirrorAnnotation, type Pod } from '../../../../api/core/pod/references/object-names.ts'
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import { type Lookup, type NodeWrite, quoted } from './write.ts'

export function admitPod(write: NodeWrite, lookup: Lookup): void | Promise<void> {
  const { operation, subresource } = write
  switch (subresource) {
    case '':
      if (operation === 'CREATE') return createPod(write, lookup)
      if (operation === 'DELETE') return deletePod(write, lookup)
      throw forbiddenWrite(
        write,
        `unexpected operation ${quoted(operation)}, node ${quoted(write.node)} can only create and delete mirror pods`,
      )
    case 'status':
      if (operation === 'UPDATE') return updateStatus(write)
      throw forbiddenWrite(write, `unexpected operation ${quoted(operation)}`)
    case 'eviction':
      if (operation === 'CREATE') return evictPod(write, lookup)
      throw forbiddenWrite(write, `unexpected operation ${operation}`)
    default:
      throw forbiddenWrite(
        write,
        `unexpected pod subresource ${quoted(subresource)}, only 'status' and 'eviction' are allowed`,
      )
  }
}

async function createPod(write: NodeWrite, lookup: Lookup): Promise<void> {
  const node = quoted(write.node)
  const pod = write.object as Pod
  const { spec } = pod
  if (!isMirror(pod))
    throw forbiddenWrite(
      write,
      `pod does not have ${quoted(mirrorAnnotation)} annotation, node ${node} can only create mirror pods`,
    )
  if (spec?.nodeName !== write.node)
    throw forbiddenWrite(write, `node ${node} can only create pods with spec.nodeName set to itself`)
  await checkOwner(write, pod, lookup)
  const reference = apiReference(pod)
  if (reference) throw forbiddenWrite(write, `node ${node} can not create pods that reference ${reference}`)
}

async function checkOwner(write: NodeWrite, { metadata }: Pod, lookup: Lookup): Promise<void> {
  const node = quoted(write.node)
  const [owner, ...others] = metadata.ownerReferences ?? []
  if (others.length > 0)
    throw forbiddenWrite(write, `node ${node} can only create pods with a single owner reference set to itself`)
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== write.node) {
    throw forbiddenWrite(write, `node ${node} can only create pods with an owner reference set to itself`)
  }
  if (!owner.controller)
    throw forbiddenWrite(write, `node ${node} can only create pods with a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion)
    throw forbiddenWrite(write, `node ${node} must not set blockOwnerDeletion on an owner reference`)
  const { metadata: known } = await lookup.node(write.node)
  if (owner.uid !== known.uid)
    throw forbiddenWrite(write, `node ${write.node} UID mismatch: expected ${owner.uid} got ${known.uid}`)
}

async function deletePod(write: NodeWrite, lookup: Lookup): Promise<void> {
  const { spec } = await lookup.pod(write.namespace, write.name)
  if (spec?.nodeName !== write.node)
    throw forbiddenWrite(write, `node ${quoted(write.node)} can only delete pods with spec.nodeName set to itself`)
}

async function evictPod(write: NodeWrite, lookup: Lookup): Promise<void> {
  const { spec } = await lookup.pod(write.namespace, write.name)
  if (spec?.nodeName !== write.node)
    throw forbiddenWrite(write, `node ${write.node} can only evict pods with spec.nodeName set to itself`)
}

function updateStatus(write: NodeWrite): void {
  const node = quoted(write.node)
  const { spec, metadata, status } = write.old as Pod
  const now = write.object as Pod
  if (spec?.nodeName !== write.node)
    throw forbiddenWrite(write, `node ${node} can only update pod status for pods with spec.nodeName set to itself`)
  if (!semanticallyEqual(metadata.labels, now.metadata.labels))
    throw forbiddenWrite(write, `node ${node} cannot update labels through pod status`)
  // Both would permit the node to read other claims.
  if (!semanticallyEqual(status?.resourceClaimStatuses, now.status?.resourceClaimStatuses)) {
    throw forbiddenWrite(write, `node ${node} cannot update resource claim statues`)
  }
  if (!semanticallyEqual(status?.extendedResourceClaimStatus, now.status?.extendedResourceClaimStatus)) {
    throw forbiddenWrite(write, `node ${node} cannot update extended resource claim status`)
  }
}
