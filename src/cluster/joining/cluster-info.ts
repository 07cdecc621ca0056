/**
 * The ConfigMap `cluster-info` in kube-public, which anonymous users may read: the address and the authority of the
 * cluster in a kubeconfig without users, signed with each bootstrap token (bootstrap-signer-controller).
 */
import { fromYaml, toYaml } from '../../machinery/yaml.ts'

export const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' } as const
export const kubeconfigKey = 'kubeconfig'

/** The address and the authority of a cluster. */
export interface ClusterPlace {
  readonly url: string
  /** PEM. */
  readonly ca: string
}

export const placeText = ({ url, ca }: ClusterPlace): string =>
  toYaml({
    apiVersion: 'v1',
    clusters: [
      { cluster: { 'certificate-authority-data': Buffer.from(ca).toString('base64'), server: url }, name: '' },
    ],
    contexts: null,
    'current-context': '',
    kind: 'Config',
    users: null,
  })

/** Undefined for a text without a cluster. */
export function placeIn(text: string): ClusterPlace | undefined {
  const { clusters } = objectOf(fromYaml(text))
  const [first] = Array.isArray(clusters) ? clusters : []
  const { server, 'certificate-authority-data': data } = objectOf(objectOf(first).cluster)
  if (typeof server !== 'string' || typeof data !== 'string') return undefined
  return { url: server, ca: Buffer.from(data, 'base64').toString() }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
