/**
 * NodeRestriction: restricts nodes to writes of their own objects, as far as the Node authorizer cannot: it does not
 * see the objects. Rules: kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import type { KubeObject, Model } from '../../../../machinery/object.ts'
import { notFound } from '../../../../machinery/status-error.ts'
import { nodeOf } from '../../../authorization/node/index.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import {
  kubeletClientSigner,
  kubeletServingSigner,
  requestedSubject,
  type SigningRequest,
} from '../certificate-signing-request.ts'
import { admitNode } from './nodes.ts'
import type { StorageLookup } from './pod-audiences.ts'
import { admitPodCertificate, type CertificateLookup } from './pod-certificates.ts'
import { admitPod } from './pods.ts'
import { admitToken } from './tokens.ts'
import { type Lookup, type NodeWrite, quoted } from './write.ts'

export function nodeRestriction({ registry, find, authorizer }: PluginSources): AdmissionPlugin {
  const { features } = registry
  const checksAudience = features.isEnabled('ServiceAccountNodeAudienceRestriction')
  const pods = find('v1/pods')
  const nodes = find('v1/nodes')
  const kinds = {
    nodes,
    pods,
    accounts: find('v1/serviceaccounts'),
    claims: find('v1/persistentvolumeclaims'),
    volumes: find('v1/persistentvolumes'),
    drivers: find('storage.k8s.io/v1/csidrivers'),
  }
  async function findObject<T extends KubeObject>(
    resource: ServedResource,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return (await registry.lookUp(resource, resource.key(namespace, name)))?.parse<T>()
  }
  async function read<T extends KubeObject>(resource: ServedResource, namespace: string, name: string): Promise<T> {
    const found = await findObject<T>(resource, namespace, name)
    if (!found) throw notFound(resource.groupResource, name)
    return found
  }
  const lookup: Lookup & StorageLookup & CertificateLookup = {
    pod: (namespace, name) => read(pods, namespace, name),
    node: (name) => read(nodes, '', name),
    find: (kind: keyof typeof kinds, namespace, name) => findObject(kinds[kind], namespace, name),
  }
  const admitters: Readonly<Partial<Record<string, (write: NodeWrite) => void | Promise<void>>>> = {
    '/pods': (write) => admitPod(write, lookup),
    '/nodes': admitNode,
    '/persistentvolumeclaims': admitClaim,
    '/serviceaccounts': (write) => {
      if (write.operation === 'CREATE' && write.subresource === 'token')
        return admitToken(write, lookup, checksAudience ? authorizer : undefined)
    },
    'coordination.k8s.io/leases': admitLease,
    'storage.k8s.io/csinodes': admitCSINode,
    'resource.k8s.io/resourceslices': admitResourceSlice,
    'certificates.k8s.io/certificatesigningrequests': (write) =>
      features.isEnabled('AllowInsecureKubeletCertificateSigningRequests') ? undefined : admitSigningRequest(write),
    'certificates.k8s.io/podcertificaterequests': (write) => admitPodCertificate(write, lookup),
  }
  return {
    name: 'NodeRestriction',
    handles: ['CREATE', 'UPDATE', 'DELETE'],
    mutate(attributes) {
      const node = nodeOf(attributes.user)
      if (node === undefined) return
      const write: NodeWrite = { ...attributes, node }
      if (node === '') throw forbiddenWrite(write, `could not determine node from user ${quoted(attributes.user.name)}`)
      const { group, name } = attributes.resource.groupResource
      return admitters[`${group}/${name}`]?.(write)
    },
  }
}

function admitLease(write: NodeWrite): void {
  if (write.namespace !== 'kube-node-lease')
    throw forbiddenWrite(write, 'can only access leases in the "kube-node-lease" system namespace')
  if (write.name !== write.node)
    throw forbiddenWrite(write, 'can only access node lease with the same name as the requesting node')
}

function admitCSINode(write: NodeWrite): void {
  if (write.name !== write.node)
    throw forbiddenWrite(write, 'can only access CSINode with the same name as the requesting node')
}

type Claim = Model<V1PersistentVolumeClaim>

/** Nodes may only report the progress of a resize of a claim. */
function admitClaim(write: NodeWrite): void {
  if (write.subresource !== 'status') throw forbiddenWrite(write, 'may only update PVC status')
  if (write.operation !== 'UPDATE') throw forbiddenWrite(write, `unexpected operation ${quoted(write.operation)}`)
  if (!semanticallyEqual(unreported(write.object as Claim), unreported(write.old as Claim))) {
    throw forbiddenWrite(
      write,
      `node ${quoted(write.node)} is not allowed to update fields other than status.quantity and status.conditions`,
    )
  }
}

function unreported({ metadata, status = {}, ...rest }: Claim): object {
  const { resourceVersion: _version, managedFields: _managed, ...kept } = metadata
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResourceStatuses: _statuses,
    allocatedResources: _allocated,
    ...others
  } = status
  return { ...rest, metadata: kept, status: others }
}

interface ResourceSlice extends KubeObject {
  readonly spec?: { readonly nodeName?: string }
}

/** The authorizer checks writes of existing slices, but not each slice of a deleted collection. */
function admitResourceSlice(write: NodeWrite): void {
  const { operation, object, old, node } = write
  if (operation === 'UPDATE') return
  const slice = (operation === 'CREATE' ? object : old) as ResourceSlice | undefined
  if (slice?.spec?.nodeName !== node)
    throw forbiddenWrite(
      write,
      `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
    )
}

/** A node may only request kubelet certificates for itself. */
async function admitSigningRequest(write: NodeWrite): Promise<void> {
  if (write.operation !== 'CREATE') return
  const { signerName, request = '' } = (write.object as SigningRequest).spec ?? {}
  if (signerName !== kubeletClientSigner && signerName !== kubeletServingSigner) return
  const { commonName } = await requestedSubject(request).catch((error) => {
    throw forbiddenWrite(write, `unable to parse csr: ${error instanceof Error ? error.message : error}`)
  })
  if (commonName !== write.user.name)
    throw forbiddenWrite(write, `can only create a node CSR with CN=${write.user.name}`)
}
