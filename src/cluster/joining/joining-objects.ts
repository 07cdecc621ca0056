/** The ConfigMaps from which a machine that joins learns about the cluster, with kubeadm's names and content. */

import { joiningGroup } from '../../apiserver/bootstrap/roles/joining-roles.ts'
import { Connection } from '../../client/connection/connection.ts'
import { type ConfigMap, configMaps, roleBindings, roles } from '../../client/kinds.ts'
import { createOrUpdate } from '../../client/objects/create-or-update.ts'
import { apiVersionOf } from '../../client/resource.ts'
import { isAlreadyExists } from '../../client/rest/api-errors.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { messageOf } from '../../lib/message-of.ts'
import { kubernetesVersion, release } from '../../lib/release.ts'
import { toYaml } from '../../machinery/yaml.ts'
import type { NetworkPlan } from '../flannel/net-conf.ts'
import { networkConfiguration, settleNetwork } from '../flannel/stored-network.ts'
import { type ClusterPlace, clusterInfo, kubeconfigKey, placeText } from './cluster-info.ts'

/** The configuration of the cluster, and of its kubelets. */
export const clusterConfiguration = { namespace: 'kube-system', name: 'kubeadm-config', key: 'ClusterConfiguration' }
export const kubeletConfiguration = { namespace: 'kube-system', name: 'kubelet-config', key: 'kubelet' }

export interface JoiningObjects extends ClusterPlace {
  /** The ranges of pods and of Services, separated by a comma; empty if nobody gives ranges to nodes. */
  readonly podRanges: string
  readonly serviceRanges: string
  /** The network of pods; undefined if nobody gives ranges to nodes. */
  readonly network: NetworkPlan | undefined
  /** The address of DNS for pods. */
  readonly dns: string | undefined
  readonly domain: string
}

/**
 * Writes the objects. The address of the server may have changed since an earlier start; the other objects belong to
 * administrators once they exist. Never rejects: clusters work without new nodes.
 */
export async function writeJoiningObjects(
  administrator: Access,
  objects: JoiningObjects,
  log: (line: string) => void,
): Promise<void> {
  const connection = new Connection(administrator)
  const client = new RestClient(connection)
  try {
    await Promise.all([
      create(client, clusterConfiguration, configurationOf(objects)),
      create(client, kubeletConfiguration, kubeletsOf(objects)),
      objects.network && shareNetwork(client, objects.network, log),
    ])
    // The last one: machines read the others after it.
    await createOrUpdate(client, configMaps, clusterInfo, (object) => ({
      ...object,
      data: { ...object.data, [kubeconfigKey]: placeText(objects) },
    }))
  } catch (error) {
    if (!connection.closed.aborted) log(`other machines cannot join this cluster: ${messageOf(error)}`)
  } finally {
    connection.close()
  }
}

async function create(
  client: RestClient,
  { namespace, name, key }: typeof clusterConfiguration,
  content: object,
): Promise<void> {
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data: { [key]: toYaml(content) },
  }
  await client.create(configMaps, object).catch(ignoreExisting)
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error
}

/** Stores the network, and lets nodes and those that join read it. */
async function shareNetwork(client: RestClient, network: NetworkPlan, log: (line: string) => void): Promise<void> {
  await settleNetwork(client, network, log)
  const { namespace, name } = networkConfiguration
  const [metadata, apiGroup] = [{ namespace, name }, 'rbac.authorization.k8s.io']
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] }]
  const subjects = [joiningGroup, 'system:nodes'].map((group) => ({ apiGroup, kind: 'Group', name: group }))
  const kinds = { apiVersion: apiVersionOf(roles), metadata }
  await client.create(roles, { ...kinds, kind: roles.kind, rules }).catch(ignoreExisting)
  await client
    .create(roleBindings, { ...kinds, kind: roleBindings.kind, roleRef: { apiGroup, kind: 'Role', name }, subjects })
    .catch(ignoreExisting)
}

const configurationOf = ({ url, podRanges, serviceRanges, domain }: JoiningObjects): object => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'ClusterConfiguration',
  clusterName: 'kubernetes',
  controlPlaneEndpoint: new URL(url).host,
  kubernetesVersion: kubernetesVersion(release).replace(/\+.*$/, ''),
  networking: { dnsDomain: domain, ...(podRanges && { podSubnet: podRanges }), serviceSubnet: serviceRanges },
})

/** The place of the authority is that of kubeadm; `t8s join` uses the authority of `cluster-info`. */
const kubeletsOf = ({ dns, domain }: JoiningObjects): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
  },
  authorization: { mode: 'Webhook' },
  ...(dns && { clusterDNS: [dns] }),
  clusterDomain: domain,
  failSwapOn: false,
  rotateCertificates: true,
})
