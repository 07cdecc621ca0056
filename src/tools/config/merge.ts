/**
 * Merges the contexts of t8s clusters into the kubeconfigs that kubectl reads, as `t8s config` changes them: under
 * locks, with undo, and without other changes.
 */

import { type Kubeconfig, kubeconfigYaml } from '../../kubeconfig/kubeconfig.ts'
import type { ConfigSet } from './contexts/config-set.ts'
import { ConfigDocument, changedEntry, notAKubeconfig } from './documents/config-document.ts'
import { changeKubeconfigs } from './files/change.ts'
import type { Locations } from './files/locations.ts'
import type { LockOptions } from './files/lock.ts'

export interface Merged {
  /** The file that contains the context. */
  readonly file: string
  /** The name of the context; has a number if another cluster uses the name. */
  readonly context: string
  readonly result: 'added' | 'replaced' | 'unchanged'
}

/**
 * Adds the cluster, user and context of `config`, or replaces those of an earlier merge of the same cluster; entries of
 * other clusters are never replaced. Sets the current context only if there is none. `what` describes the change for
 * `undo`. If it rejects with an ExplainedError, no file was changed.
 */
export function mergeKubeconfig(
  locations: Locations,
  config: Kubeconfig,
  what: string,
  options?: LockOptions,
): Promise<Merged> {
  const ours = new ConfigDocument(kubeconfigYaml(config), notAKubeconfig(what))
  const defaultName = config['current-context']
  return changeKubeconfigs(
    locations,
    what,
    (set) => {
      const context = contextFor(set, config)
      const before = entriesOf(set, context)
      for (const kind of kinds) {
        const fields = kind === 'context' ? { cluster: context, user: context } : {}
        set.put(changedEntry(ours.copyOf(kind, defaultName)!, context, fields))
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

/** The name of this cluster's entries, else the first free name. */
function contextFor(set: ConfigSet, config: Kubeconfig): string {
  let free: string | undefined
  for (let number = 1; free === undefined; number++) {
    const name = number === 1 ? config['current-context'] : `${config['current-context']}-${number}`
    if (isOurs(set, name, config)) return name
    if (!kinds.some((kind) => set.has(kind, name))) free = name
  }
  return free
}

/** True for entries of the same cluster: the authority or the address is equal. */
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

/** The content of the entries with a name, for comparison; empty if there are none. */
function entriesOf(set: ConfigSet, name: string): string {
  const present = kinds.filter((kind) => set.has(kind, name))
  return present.length === 0
    ? ''
    : JSON.stringify(present.map((kind) => entryFields[kind].map((field) => set.text(kind, name, field) ?? null)))
}
