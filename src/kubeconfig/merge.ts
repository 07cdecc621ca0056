/** Puts contexts of our own into the kubeconfigs that kubectl reads, as `t8s config` changes them: locked, with all else left as it is, and to be undone. */
import { ConfigDocument, notAKubeconfig } from './documents/config-document.ts'
import { changeKubeconfigs } from './files/change.ts'
import type { Locations } from './files/locations.ts'
import type { LockOptions } from './files/lock.ts'
import { type Kubeconfig, kubeconfigYaml } from './kubeconfig.ts'

/**
 * Adds the clusters, users and contexts of `config`, in the places of those with the same names; `what` is told by `undo`. The current
 * context stays what it is unless there is none. Resolves with the file that has the context now. Rejects with an ExplainedError, with all
 * files as they were.
 */
export function mergeKubeconfig(locations: Locations, config: Kubeconfig, what: string, options?: LockOptions): Promise<string> {
  const ours = new ConfigDocument(kubeconfigYaml(config), notAKubeconfig(what))
  const name = config['current-context']
  return changeKubeconfigs(
    locations,
    what,
    (set) => {
      for (const kind of ['cluster', 'user', 'context'] as const) for (const name of ours.names(kind)) set.put(ours.copyOf(kind, name)!)
      if (!set.currentContext) set.currentContext = name
      return set.origin('context', name)?.file ?? locations.target
    },
    options,
  )
}
