/**
 * Records the pods under another kubelet: starts containerd and a cluster, and the given command as the kubelet of the
 * node `n1`. In its arguments, {kubeconfig}, {endpoint} and {folder} are replaced. Needs root and Linux.
 * @example unshare -n -m -p -f --mount-proc scripts/node test/kubelet/swap/record.ts out.json kubelet --v=2 …
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '../../../src/client/connection/connection.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { startCluster } from '../../../src/cluster/start-cluster.ts'
import { startContainerd } from '../support/runtimes/containerd.ts'
import type { Recording } from './recording.ts'
import { PodHistory, prepare, runPod } from './run-pods.ts'

/** The time in which the last events are written, in ms. */
const settleMs = 10_000

const [out = '', program = '', ...args] = process.argv.slice(2)
process.env.T8S_TEST_NAMESPACES = '1'
const folder = mkdtempSync(join(tmpdir(), 't8s-swap-'))
const containerd = await startContainerd()
const cluster = await startCluster({ storage: 'memory' })
const kubeconfig = join(folder, 'kubeconfig')
writeFileSync(kubeconfig, cluster.kubeconfigYaml)
const given: Readonly<Record<string, string>> = { kubeconfig, endpoint: containerd.endpoint, folder }
const fill = (arg: string): string => arg.replace(/\{(\w+)\}/g, (all, name: string) => given[name] ?? all)
const log = openSync(`${out}.log`, 'w')
const kubelet = spawn(program, args.map(fill), { stdio: ['ignore', log, log] })
kubelet.once('exit', (code) => console.error(`the kubelet has ended with ${code}, see ${out}.log`))

const connection = new Connection(cluster.client)
const client = new RestClient(connection)
const history = new PodHistory(client, 'swap')
const set = await prepare(client, 'swap')
history.start()
const runs = await Promise.all(
  set.map(async (one) => {
    try {
      return [one.pod.metadata.name ?? '', await runPod(client, history, one)] as const
    } catch (error) {
      console.error((error as Error).message)
      return undefined
    }
  }),
)
await delay(settleMs)
const recording: Recording = Object.fromEntries(
  runs.flatMap((run) => {
    if (!run) return []
    const [name, { statuses, events }] = run
    const first = Object.entries(statuses).map(([step, all]) => [step, all[0]])
    return [[name, { statuses: Object.fromEntries(first), events: events() }]]
  }),
)
writeFileSync(out, `${JSON.stringify(recording, null, 1)}\n`)
history.stop()
kubelet.kill()
connection.close()
await cluster.stop({ graceMs: 0 })
await containerd.stop().catch(() => {})
process.exit(0)
