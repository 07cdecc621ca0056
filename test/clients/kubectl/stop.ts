/** A stop of the kubectl tour: a few commands in a namespace of their own. */
import type { Kubectl } from '../../support/kubectl.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'

export type Stop = (k: Kubectl, cluster: ReachableCluster) => Promise<void>

/** Stops by the behaviour that they test. */
export type Stops = Readonly<Record<string, Stop>>

/** The path of a namespaced object or collection. */
export const apiPath = (k: Kubectl, groupVersion: string, rest: string): string =>
  `/${groupVersion.includes('/') ? 'apis' : 'api'}/${groupVersion}/namespaces/${k.namespace}/${rest}`

/** Creates the initial objects of a stop, without kubectl: that is faster. */
export async function make(k: Kubectl, cluster: ReachableCluster, ...manifests: readonly string[]): Promise<void> {
  for (const manifest of manifests) {
    const [, groupVersion = '', kind = ''] = /^apiVersion: (.*)\nkind: (.*)\n/.exec(manifest) ?? []
    const plural = `${kind.toLowerCase()}s`
    await cluster.call(
      'POST',
      kind === 'Node' ? `/api/v1/${plural}` : apiPath(k, groupVersion, plural),
      manifest,
      'application/yaml',
    )
  }
}
