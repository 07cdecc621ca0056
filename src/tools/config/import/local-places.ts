/** Default paths of the administrator's kubeconfigs of local clusters. */
import { existsSync, globSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export interface LocalPlace {
  /** The program that writes it: `k3s`. */
  readonly what: string
  readonly file: string
  /** The contexts to consider. Default: all. */
  readonly contexts?: RegExp
}

/** The existing paths under `root`, without `taken`, the kubeconfigs that are in use. */
export function localPlaces(home: string, taken: readonly string[] = [], root = '/'): LocalPlace[] {
  const places: readonly LocalPlace[] = [
    { what: 'k3s', file: join(root, 'etc/rancher/k3s/k3s.yaml') },
    { what: 'RKE2', file: join(root, 'etc/rancher/rke2/rke2.yaml') },
    { what: 'kubeadm', file: join(root, 'etc/kubernetes/admin.conf') },
    // kind adds its contexts to kubectl's file; older versions wrote a file per cluster.
    { what: 'kind', file: join(home, '.kube/config'), contexts: /^kind-/ },
    ...globSync(join(home, '.kube/kind-config*')).map((file) => ({ what: 'kind', file })),
  ]
  const used = new Set(taken.filter((file) => existsSync(file)).map((file) => realpathSync(file)))
  return places.filter(({ file }) => existsSync(file) && !used.has(realpathSync(file)))
}
