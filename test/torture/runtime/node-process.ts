/** `t8s up` with a real node under torture: API server, kubelet and runtime are killed together. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from '../../../src/client/connection/connection.ts'
import { loadAccess } from '../../../src/client/connection/load-access.ts'
import { type Node, nodes } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { findCgroups } from '../../../src/node/cgroups/tree/find-cgroups.ts'
import { writeTestImages } from '../../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../../support/wait-for.ts'
import { ProgramProcess } from '../program-process.ts'
import { torturePodOfNode } from './node-pod.ts'
import { type PodPlan, patiently } from './pod-plan.ts'
import type { Tortured } from './tortured.ts'

/** Folders of the machine that get empty ones of the namespaces in their place. */
export const coveredByNode = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni']

const launcher = join(import.meta.dirname, '../../../t8s')
/** In the network namespace of the torture. */
const port = 6443

const isReady = ({ status }: Node): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')

/** `folder` gets the files that are not in `coveredByNode`. */
export async function tortureOfNode(folder: string): Promise<Tortured> {
  for (const archive of writeTestImages(folder)) execFileSync(launcher, ['image', 'import', archive])
  const cgroupRoot = `/typernetes/torture-${process.pid}-${Date.now()}`
  findCgroups().create(cgroupRoot)
  const logs = join(folder, 'pod-logs')
  const config = join(folder, 'kubelet.json')
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  writeFileSync(config, JSON.stringify({ ...kind, cgroupRoot, podLogsDir: logs }))
  const data = join(folder, 'data')
  const flags = ['--node-type=real', `--kubelet-config=${config}`, `--data-dir=${data}`, `--secure-port=${port}`]
  const program = new ProgramProcess({
    words: ['up', ...flags],
    ready: 'Ctrl-C stops it',
    log: join(folder, 'up.log'),
  })
  const kubeconfig = join(data, 'kubeconfig')
  let connection: Connection | undefined
  const client = async (): Promise<RestClient> => {
    connection ??= new Connection(await loadAccess({ kubeconfig }))
    return new RestClient(connection)
  }
  return {
    get pid() {
      return program.pid
    },
    folders: ['/run/typernetes', '/var/lib/typernetes', folder],
    emptyFolders: [join(data, 'node/kubelet/pods')],
    async start() {
      await program.start()
      await waitFor('the node is Ready', async () => (await (await client()).list(nodes)).items.some(isReady))
    },
    restart: (signal) => program.restart(signal),
    async end(signal) {
      connection?.close()
      await program.end(signal)
      await findCgroups().remove(cgroupRoot)
    },
    runPod: async (plan: PodPlan) => torturePodOfNode(await patiently(client), { kubeconfig, logs }, plan),
  }
}
