/** The place of a cluster's data: a data directory, or memory with a kubeconfig that ends with the process. */
import { join } from 'node:path'
import type { ClusterOptions } from '../../cluster/cluster-options.ts'
import { dataDirectoryPaths } from '../../cluster/data-directory.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { ProcessFolders } from '../../lib/process/process-folders.ts'
import type { UpFlags } from '../flags/up-flags.ts'

export interface ClusterPlace {
  readonly storage: NonNullable<ClusterOptions['storage']>
  /** The place as people read it: `/home/me/.t8s`, `memory`. */
  readonly text: string
  /** The file of the administrator's kubeconfig, if no flag sets one. */
  readonly kubeconfig: string
  /** Removes files that end with the process. */
  end(): void
}

const folders = new ProcessFolders('t8s-memory-')

/** `notice` gets warnings of the store. */
export function clusterPlace(
  { memory, dataDir, etcdServers, acceptDataLoss }: UpFlags,
  notice: (line: string) => void,
): ClusterPlace {
  if (!memory) {
    const { path, kubeconfig } = dataDirectoryPaths(dataDir)
    const text = etcdServers ? `${etcdServers}, certificates in ${path}` : path
    return { storage: { directory: path, acceptDataLoss, notice }, text, kubeconfig, end: () => {} }
  }
  const folder = folders.create()
  const end = (): void => folder[Symbol.dispose]()
  return { storage: 'memory', text: 'memory', kubeconfig: join(folder.path, 'kubeconfig'), end }
}

/** Returns the flags with those that follow from `--memory`. Throws an ExplainedError for flags that contradict it. */
export function withMemoryDefaults(flags: UpFlags, isGiven: (flag: keyof UpFlags) => boolean): UpFlags {
  if (!flags.memory) return flags
  const files = { '--data-dir': isGiven('dataDir'), '--etcd-servers': flags.etcdServers !== undefined }
  for (const [flag, given] of Object.entries(files))
    if (given) throw new ExplainedError(`--memory stores nothing, and ${flag} names a store: leave out one of them`)
  if (flags.nodeType === 'real' || flags.machines !== undefined)
    throw new ExplainedError(
      'real nodes need files of the cluster: leave out --memory, or --node-type=real and --machines',
    )
  return { ...flags, nodeType: 'simulated' }
}
