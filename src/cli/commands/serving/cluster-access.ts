/** The access to a cluster that `t8s up` has started: its kubeconfigs, and the lines that say how to use it. */
import { resolve } from 'node:path'
import { Ansis } from 'ansis'
import type { Cluster } from '../../../cluster/cluster-options.ts'
import { type Kubeconfig, kubeconfigFor } from '../../../kubeconfig/kubeconfig.ts'
import { writeKubeconfig } from '../../../kubeconfig/write.ts'
import { shellWord } from '../../../lib/shell-word.ts'
import type { Merged } from '../../../tools/config/merge.ts'
import { contextOf } from '../../detached/cluster-names.ts'
import type { UpFlags } from '../../flags/up-flags.ts'
import type { ClusterPlace } from '../../running/cluster-place.ts'

/** Writes the administrator's kubeconfigs, and prints how to use the cluster. */
export async function writeAccess(
  flags: Pick<UpFlags, 'name' | 'kubeconfig' | 'mergeKubeconfig'>,
  cluster: Cluster,
  place: Pick<ClusterPlace, 'text' | 'kubeconfig'>,
  print: (line: string) => void,
): Promise<void> {
  const kubeconfig = flags.kubeconfig ? resolve(flags.kubeconfig) : place.kubeconfig
  writeKubeconfig(kubeconfig, cluster.kubeconfigYaml)
  const config = flags.name === undefined ? cluster.kubeconfig : kubeconfigFor(contextOf(flags.name), cluster.client)
  const merged = flags.mergeKubeconfig || flags.name !== undefined ? await merge(config, flags) : undefined
  // On CI, ansis uses colours without a terminal.
  const colour = new Ansis(process.stdout.isTTY ? undefined : 0)
  print(`data in ${place.text}`)
  print(`serving on ${cluster.url}`)
  print(`kubeconfig written to ${kubeconfig}`)
  if (merged) print(mergedLine(merged, config))
  print(colour.green(`ready in ${Math.round(performance.now())} ms`))
  print(
    `\n  ${colour.bold(`export KUBECONFIG=${shellWord(kubeconfig)}`)}\n  ` +
      `${colour.bold('kubectl get nodes')}\n` +
      `${merged ? `or  ${colour.bold(`kubectl --context ${merged.context} get nodes`)}\n` : ''}\n` +
      'Ctrl-C stops it',
  )
}

/** Merges into the kubeconfig that kubectl writes to. */
async function merge(kubeconfig: Kubeconfig, { name }: Pick<UpFlags, 'name'>): Promise<Merged> {
  const [{ mergeKubeconfig }, { kubeconfigLocations }] = await Promise.all([
    import('../../../tools/config/merge.ts'),
    import('../../../tools/config/files/locations.ts'),
  ])
  return mergeKubeconfig(
    kubeconfigLocations(process.env),
    kubeconfig,
    name === undefined ? 'up --merge-kubeconfig' : `up --name ${name}`,
  )
}

function mergedLine({ file, context, result }: Merged, kubeconfig: Kubeconfig): string {
  const defaultContext = kubeconfig['current-context']
  if (context === defaultContext)
    return result === 'added' ? `context ${context} added to ${file}` : `context ${context} ${result} in ${file}`
  return (
    `context ${context} ${result} in ${file}: ${defaultContext} belongs to another cluster there; to reuse that ` +
    `name, run t8s config remove ${defaultContext} and restart`
  )
}
