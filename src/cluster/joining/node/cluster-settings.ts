/** Reads what a joining machine needs from ConfigMaps of kube-system, those of kubeadm. */
import { configMaps } from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { decodeWritten } from '../../../kubelet/configuration/index.ts'
import type { WrittenConfiguration } from '../../../kubelet/configuration/shape.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { fromYaml } from '../../../machinery/yaml.ts'
import { networkConfiguration } from '../../flannel/stored-network.ts'
import { clusterConfiguration, kubeletConfiguration } from '../joining-objects.ts'
import type { KnownCluster } from './node-folder.ts'

/** Rejects with a StatusError or ConnectionLost if the server does not answer with the objects. */
export async function clusterSettings(
  client: RestClient,
): Promise<Pick<KnownCluster, 'podRanges' | 'kubelet' | 'network'>> {
  const read = async ({ namespace, name, key }: typeof clusterConfiguration): Promise<string> =>
    (await client.find(configMaps, namespace, name))?.data?.[key] ?? ''
  const [cluster, kubelet, network] = await Promise.all([
    read(clusterConfiguration),
    read(kubeletConfiguration),
    // In a cluster of kubeadm, machines that join must not read it.
    read(networkConfiguration).catch(ignoreForbidden),
  ])
  return { podRanges: podRangesIn(cluster), kubelet, network: network || undefined }
}

function ignoreForbidden(error: unknown): undefined {
  if (!(error instanceof StatusError) || error.code !== 403) throw error
}

function podRangesIn(text: string): readonly string[] {
  const podSubnet = field(field(fromYaml(text), 'networking'), 'podSubnet')
  return typeof podSubnet === 'string' && podSubnet !== '' ? podSubnet.split(',') : []
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined

/** The fields that a joined node takes over: its runtime, certificates and cgroups are its own. */
export function kubeletFields(text: string): WrittenConfiguration {
  if (text.trim() === '') return {}
  try {
    const { authentication, ...written } = decodeWritten(fromYaml(text))
    const own = ['cgroupDriver', 'cgroupRoot', 'containerRuntimeEndpoint', 'staticPodPath', 'resolvConf', 'logging']
    const shared = Object.entries(written).filter(([name]) => !own.includes(name))
    return {
      ...Object.fromEntries(shared),
      ...(authentication && { authentication: { ...authentication, x509: {} } }),
    }
  } catch (error) {
    throw new ExplainedError(
      `the ConfigMap kube-system/kubelet-config of the cluster cannot be used: ${reasonOf(error)}; correct it with ` +
        'kubectl -n kube-system edit configmap kubelet-config',
      { cause: error },
    )
  }
}
