/** The end of a cluster's start: controllers have created what every namespace has, and nodes are ready. */
import { configMaps, namespaces, nodes, serviceAccounts } from '../../client/kinds.ts'
import { hasCondition, waitFor } from '../../client/objects/wait-for.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { ClusterOptions } from '../cluster-options.ts'

/** The controllers that namespaces depend on. */
export interface NamespaceControllers {
  /** Creates the service account `default`, which pods need. */
  readonly serviceAccounts: boolean
  /** Creates the ConfigMap `kube-root-ca.crt`. */
  readonly certificates: boolean
  /** Deletes what is in a namespace that is being deleted. */
  readonly namespaces: boolean
}

const isThere = (object: KubeObject | undefined): boolean => object !== undefined

/** Returns which of the controllers run with these options. */
export function runningControllers({ controllers = true }: ClusterOptions): NamespaceControllers {
  const isListed = (names: readonly string[], sign = ''): boolean =>
    typeof controllers !== 'boolean' && names.some((name) => controllers.includes(`${sign}${name}`))
  const runs = (...names: readonly string[]): boolean =>
    typeof controllers === 'boolean' ? controllers : !isListed(names, '-') && isListed(['*', ...names])
  return {
    serviceAccounts: runs('serviceaccount-controller', 'serviceaccount'),
    certificates: runs('root-ca-certificate-publisher-controller', 'root-ca-cert-publisher'),
    namespaces: runs('namespace-controller', 'namespace'),
  }
}

/** Resolves when a namespace has the objects that controllers create in each. */
export async function namespaceReady(
  client: RestClient,
  namespace: string,
  running: NamespaceControllers,
): Promise<void> {
  const exists = <T extends KubeObject>(resource: Resource<T>, name: string): Promise<unknown> =>
    waitFor(client, resource, { namespace, name }, isThere)
  await Promise.all([
    ...(running.serviceAccounts ? [exists(serviceAccounts, 'default')] : []),
    ...(running.certificates ? [exists(configMaps, 'kube-root-ca.crt')] : []),
  ])
}

/** Resolves when nothing of the start is left to do. */
export async function settled(client: RestClient, options: ClusterOptions): Promise<void> {
  const running = runningControllers(options)
  const [spaces, machines] = await Promise.all([client.list(namespaces), client.list(nodes)])
  await Promise.all([
    ...spaces.items.map(({ metadata }) => namespaceReady(client, metadata.name ?? '', running)),
    ...machines.items.map(({ metadata }) =>
      waitFor(client, nodes, { name: metadata.name ?? '' }, hasCondition('Ready')),
    ),
  ])
}
