/** A kubelet of the node `n1` for tests, with folders of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../../src/cluster/start-cluster.ts'
import { defaultConfiguration, type KubeletConfiguration } from '../../../src/kubelet/configuration/defaults.ts'
import { selfSigned } from '../../../src/kubelet/credentials/key-pair.ts'
import { type KubeletOptions, type RunningKubelet, runKubelet } from '../../../src/kubelet/kubelet.ts'
import { cgroupRootOf } from './runtimes/runtime-process.ts'

export interface TestKubelet extends RunningKubelet {
  /** The folder of the logs of pods. */
  readonly podLogs: string
}

/** Options that differ from those of other tests. */
export interface TestKubeletOptions extends Partial<Omit<KubeletOptions, 'configuration'>> {
  readonly configuration?: Partial<KubeletConfiguration>
}

/** `root` is an empty folder of the test. Waits until the node is registered, if the server is the cluster's. */
export async function startKubelet(
  cluster: Cluster,
  endpoint: string,
  root: string,
  log: (line: string) => void,
  { configuration, server = cluster.client, ...options }: TestKubeletOptions = {},
): Promise<TestKubelet> {
  const podLogs = join(root, 'logs')
  mkdirSync(podLogs, { recursive: true })
  const kubelet = await runKubelet({
    server,
    configuration: {
      ...defaultConfiguration,
      containerRuntimeEndpoint: endpoint,
      cgroupRoot: cgroupRootOf(endpoint),
      address: '127.0.0.1',
      port: 0,
      // Kubelets of other tests run at the same time.
      healthzPort: 0,
      // The disks of machines that test may be nearly full.
      evictionHard: { 'memory.available': '100Mi' },
      ...configuration,
    },
    root: join(root, 'kubelet'),
    podLogs,
    nodeName: 'n1',
    nodeIps: ['127.0.0.1'],
    serving: { current: await selfSigned('n1', ['127.0.0.1'], new Date()), onChange: () => {} },
    clientCA: authorityOf(cluster),
    log,
    ...options,
  })
  if (server === cluster.client) await kubelet.started
  return { ...kubelet, podLogs }
}

/** The authority that signs client certificates of the cluster. */
function authorityOf({ kubeconfig }: Cluster): string {
  const data = kubeconfig.clusters?.[0]?.cluster?.['certificate-authority-data'] ?? ''
  return Buffer.from(data, 'base64').toString()
}
