/**
 * Puts contexts of our own into the kubeconfigs that kubectl reads, as `t8s config` changes them: locked, with all else
 * left as it is, and to be undone.
 */
import type { ConfigSet } from './contexts/config-set.ts'
import { ConfigDocument, changedEntry, notAKubeconfig } from './documents/config-document.ts'
import { changeKubeconfigs } from './files/change.ts'
import type { Locations } from './files/locations.ts'
import type { LockOptions } from './files/lock.ts'
import { type Kubeconfig, kubeconfigYaml } from './kubeconfig.ts'

export interface Merged {
  /** The file that has the context now. */
  readonly file: string
  /** Its name: that of the config, or with a number where another cluster has that name. */
  readonly context: string
  readonly result: 'added' | 'replaced' | 'unchanged'
}

/**
 * Adds the cluster, user and context of `config`, in the places of those that an earlier merge of the same cluster has
 * made; entries of another cluster are never replaced. `what` is told by `undo`. The current context stays what it is
 * unless there is none. Rejects with an ExplainedError, with all files as they were.
 */
export function mergeKubeconfig(
  locations: Locations,
  config: Kubeconfig,
  what: string,
  options?: LockOptions,
): Promise<Merged> {
  const ours = new ConfigDocument(kubeconfigYaml(config), notAKubeconfig(what))
  const usual = config['current-context']
  return changeKubeconfigs(
    locations,
    what,
    (set) => {
      const context = contextFor(set, config)
      const before = entriesOf(set, context)
      for (const kind of kinds) {
        const fields = kind === 'context' ? { cluster: context, user: context } : {}
        set.put(changedEntry(ours.copyOf(kind, usual)!, context, fields))
      }
      if (!set.currentContext) set.currentContext = context
      const file = set.origin('context', context)?.file ?? locations.target
      const isSame = entriesOf(set, context) === before
      return { file, context, result: before === '' ? 'added' : isSame ? 'unchanged' : 'replaced' }
    },
    options,
  )
}

const kinds = ['cluster', 'user', 'context'] as const

/** The name under which this cluster is there, else the first that nothing has. */
function contextFor(set: ConfigSet, config: Kubeconfig): string {
  let free: string | undefined
  for (let number = 1; free === undefined; number++) {
    const name = number === 1 ? config['current-context'] : `${config['current-context']}-${number}`
    if (isOurs(set, name, config)) return name
    if (!kinds.some((kind) => set.has(kind, name))) free = name
  }
  return free
}

/** True for entries of the same cluster: it has our authority, or the address at which we listen now. */
function isOurs(set: ConfigSet, name: string, { clusters: [cluster] }: Kubeconfig): boolean {
  if (!set.has('cluster', name)) return false
  for (const kind of ['cluster', 'user'] as const)
    if (set.has('context', name) && set.text('context', name, kind) !== name) return false
  const isSame = (field: 'server' | 'certificate-authority-data'): boolean =>
    set.text('cluster', name, field) === cluster?.cluster[field]
  return isSame('certificate-authority-data') || isSame('server')
}

const entryFields = {
  cluster: ['server', 'certificate-authority-data'],
  user: ['client-certificate-data', 'client-key-data'],
  context: ['cluster', 'user'],
} as const

/** What is said under a name, to see a change; empty where there is nothing. */
function entriesOf(set: ConfigSet, name: string): string {
  const present = kinds.filter((kind) => set.has(kind, name))
  return present.length === 0
    ? ''
    : JSON.stringify(present.map((kind) => entryFields[kind].map((field) => set.text(kind, name, field) ?? null)))
}
