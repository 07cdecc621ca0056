/** The network of a cluster's pods where upstream's flannel has it: a ConfigMap, which all nodes read. */
import { type ConfigMap, configMaps, namespaces } from '../../client/kinds.ts'
import { createOrUpdate } from '../../client/objects/create-or-update.ts'
import { isAlreadyExists } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { type NetworkConfig, parseNetworkConfig } from '../../network/flannel/config/network-config.ts'
import { type NetworkPlan, settledNetConf } from './net-conf.ts'

export const networkConfiguration = { namespace: 'kube-flannel', name: 'kube-flannel-cfg', key: 'net-conf.json' }

const labels = { 'k8s-app': 'flannel' }

/**
 * Stores the network of a new cluster, and changes that of an old one to the plan. Resolves with the text. Rejects with
 * an ExplainedError for a stored text that cannot be used.
 */
export async function settleNetwork(
  client: RestClient,
  plan: NetworkPlan,
  log: (line: string) => void,
): Promise<string> {
  const { namespace, name, key } = networkConfiguration
  let [text, former]: [string, string | undefined] = ['', undefined]
  if ((await client.find(namespaces, '', namespace)) === undefined) await createNamespace(client, namespace)
  await createOrUpdate(client, configMaps, { namespace, name }, (object): ConfigMap => {
    former = object.data?.[key]
    text = explained(() => settledNetConf(former, plan))
    if (former === text) return object
    return {
      ...object,
      metadata: { ...object.metadata, labels: { ...labels, tier: 'node', app: 'flannel', ...object.metadata.labels } },
      data: { ...object.data, [key]: text },
    }
  })
  if (former !== undefined && former !== text)
    log(
      `the network of pods has changed: the backend is ${networkConfig(text).backendType}. Nodes that have joined ` +
        'use it when t8s join starts again',
    )
  return text
}

/** Throws an ExplainedError for a text that cannot be used. */
export const networkConfig = (text: string): NetworkConfig => explained(() => parseNetworkConfig(text))

async function createNamespace(client: RestClient, name: string): Promise<void> {
  const metadata = { name, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'privileged' } }
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
}

function explained<Result>(read: () => Result): Result {
  const { namespace, name } = networkConfiguration
  try {
    return read()
  } catch (error) {
    throw new ExplainedError(
      `the ConfigMap ${namespace}/${name} of the cluster cannot be used: ${reasonOf(error)}; correct it with kubectl ` +
        `-n ${namespace} edit configmap ${name}`,
      { cause: error },
    )
  }
}
