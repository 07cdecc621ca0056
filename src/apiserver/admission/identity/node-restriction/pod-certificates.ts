/** Nodes request certificates for the pods that run on them, with the current pod, account and node (KEP-4317). */
import type { V1beta1PodCertificateRequest } from '@kubernetes/client-node'
import { isMirror, type Pod } from '../../../../api/core/pod/references/object-names.ts'
import type { KubeObject, Model } from '../../../../machinery/object.ts'
import { internal, type StatusError } from '../../../../machinery/status-error.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import { type Node, type NodeWrite, quoted } from './write.ts'

export interface CertificateLookup {
  /** Returns undefined for a missing object. */
  find<T extends KubeObject>(
    kind: 'nodes' | 'pods' | 'accounts',
    namespace: string,
    name: string,
  ): Promise<T | undefined>
}

/** A mismatch that a retry may resolve, such as a recreated object, is an internal error, as upstream. */
export async function admitPodCertificate(write: NodeWrite, lookup: CertificateLookup): Promise<void> {
  const { namespace, operation, subresource } = write
  const refuse = (why: string): StatusError => forbiddenWrite(write, why)
  if (operation !== 'CREATE') throw refuse(`unexpected operation ${operation}`)
  if (subresource) throw refuse(`unexpected subresource ${subresource}`)
  const { spec } = write.object as Model<V1beta1PodCertificateRequest>
  const {
    nodeName = '',
    nodeUID = '',
    podName = '',
    podUID = '',
    serviceAccountName: account = '',
    serviceAccountUID = '',
  } = spec ?? {}
  const podAt = quoted(`${namespace}/${podName}`)
  const request = `PodCertificateRequest for pod ${podAt}`
  const missing = (what: string, at: string, lost: string): StatusError =>
    internal(`while retrieving ${what} ${at} named in the PodCertificateRequest: ${lost} not found`)

  if (nodeName !== write.node)
    throw refuse(
      `PodCertificateRequest.Spec.NodeName=${quoted(nodeName)}, which is not the requesting node ${quoted(write.node)}`,
    )
  const node = await lookup.find<Node>('nodes', '', nodeName)
  if (!node) throw missing('node', quoted(nodeName), `node ${quoted(nodeName)}`)
  const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? ''
  if (uidOf(node) !== nodeUID)
    throw internal(
      `${request} names node UID ${quoted(nodeUID)}, inconsistent with the running node (${quoted(uidOf(node))})`,
    )

  const pod = await lookup.find<Pod>('pods', namespace, podName)
  if (!pod) throw missing('pod', podAt, `pod ${quoted(podName)}`)
  if (uidOf(pod) !== podUID)
    throw internal(
      `${request} contains pod UID (${quoted(podUID)}) which differs from running pod ${quoted(uidOf(pod))}`,
    )
  if (pod.spec?.nodeName !== nodeName)
    throw refuse(`pod ${podAt} is not running on node ${quoted(nodeName)} named in the PodCertificateRequest`)
  if (isMirror(pod)) throw refuse(`pod ${podAt} is a mirror pod`)

  const { serviceAccountName: running = '' } = pod.spec
  if (account !== running)
    throw refuse(
      `${request} contains serviceAccountName (${quoted(account)}) that differs from running pod (${quoted(running)})`,
    )
  const found = await lookup.find('accounts', namespace, account)
  if (!found) throw missing('service account', quoted(`${namespace}/${account}`), `serviceaccount ${quoted(account)}`)
  if (uidOf(found) !== serviceAccountUID) {
    throw internal(
      `${request} names service account UID ${quoted(serviceAccountUID)}, which differs from the running service ` +
        `account (${quoted(uidOf(found))})`,
    )
  }
}
