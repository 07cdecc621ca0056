/** `t8s up --detach`: starts the cluster in the background, and prints how to use and stop it. */
import { resolve } from 'node:path'
import { shellWord } from '../../../lib/shell-word.ts'
import { contextOf, defaultName } from '../../detached/cluster-names.ts'
import { ClusterRecords } from '../../detached/records.ts'
import { startDetached } from '../../detached/start-detached.ts'
import type { UpFlags } from '../../flags/up-flags.ts'

/** Resolves when the cluster serves. Rejects with an ExplainedError if it does not start. */
export async function upDetached(flags: Pick<UpFlags, 'name' | 'dataDir'>): Promise<void> {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => interruption.abort())
  const name = flags.name ?? defaultName
  const { url, kubeconfig } = await startDetached({
    name,
    args: process.argv.slice(2).filter((arg) => arg !== '--detach'),
    dataDirectory: resolve(flags.dataDir),
    environment: process.env,
    signal: interruption.signal,
  })
  const named = flags.name ? ` --name ${name}` : ''
  const lines = [
    `${name} serves on ${url}`,
    `data in ${resolve(flags.dataDir)}, log in ${new ClusterRecords(process.env).logFile(name)}`,
    `\n  export KUBECONFIG=${shellWord(kubeconfig)}\n  kubectl get nodes`,
    ...(flags.name ? [`or  kubectl --context ${contextOf(name)} get nodes`] : []),
    `\nt8s down${named} stops it`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
