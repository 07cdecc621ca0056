/** `t8s kubelet` as a process, so that its memory and CPU time are its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../src/cluster/start-cluster.ts'
import { cgroupRootOf } from '../../test/kubelet/support/runtimes/runtime-process.ts'
import { launcher } from '../server/server.ts'

/** Starts the kubelet of the node `n1`; it logs to stderr if `T8S_BENCH_LOG` is set. */
export function startKubeletProcess(cluster: Cluster, endpoint: string, folder: string): ChildProcess {
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, cluster.kubeconfigYaml, { mode: 0o600 })
  const authority = join(folder, 'ca.crt')
  const data = cluster.kubeconfig.clusters?.[0]?.cluster?.['certificate-authority-data'] ?? ''
  writeFileSync(authority, Buffer.from(data, 'base64'))
  const configuration = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '127.0.0.1',
    port: 10_250,
    healthzPort: 0,
    readOnlyPort: 0,
    containerRuntimeEndpoint: endpoint,
    podLogsDir: join(folder, 'logs'),
    cgroupRoot: cgroupRootOf(endpoint),
    authentication: { x509: { clientCAFile: authority } },
  }
  const config = join(folder, 'kubelet.json')
  writeFileSync(config, JSON.stringify(configuration))
  const flags = {
    kubeconfig,
    config,
    'root-dir': join(folder, 'kubelet'),
    'cert-dir': join(folder, 'pki'),
    'hostname-override': 'n1',
    'node-ip': '127.0.0.1',
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const log = process.env.T8S_BENCH_LOG ? 'inherit' : 'ignore'
  return spawn(launcher, ['kubelet', ...args], { stdio: ['ignore', log, log] })
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill()
  await exited
}
