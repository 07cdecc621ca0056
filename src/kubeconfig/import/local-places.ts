/** Where clusters of this machine leave the kubeconfigs of their administrators. */
import { existsSync, globSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export interface LocalPlace {
  /** Who writes it: `k3s`. */
  readonly what: string
  readonly file: string
  /** The only contexts of it that are meant; all unless said. */
  readonly contexts?: RegExp
}

/** The places, under `root`, that are there, but for `taken`: kubeconfigs that are in use here anyway. */
export function localPlaces(home: string, taken: readonly string[] = [], root = '/'): LocalPlace[] {
  const places: readonly LocalPlace[] = [
    { what: 'k3s', file: join(root, 'etc/rancher/k3s/k3s.yaml') },
    { what: 'RKE2', file: join(root, 'etc/rancher/rke2/rke2.yaml') },
    { what: 'kubeadm', file: join(root, 'etc/kubernetes/admin.conf') },
    // kind adds its contexts to what kubectl reads; older ones wrote a file for each cluster.
    { what: 'kind', file: join(home, '.kube/config'), contexts: /^kind-/ },
    ...globSync(join(home, '.kube/kind-config*')).map((file) => ({ what: 'kind', file })),
  ]
  const used = new Set(taken.filter((file) => existsSync(file)).map((file) => realpathSync(file)))
  return places.filter(({ file }) => existsSync(file) && !used.has(realpathSync(file)))
}
