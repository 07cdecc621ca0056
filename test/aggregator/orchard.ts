/** An extension server in a separate process, and its Service, endpoints and APIService. */
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { KeyPair } from '../../src/cluster/pki/key-pair.ts'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { askedProcess } from '../support/asked-process.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'
import type { TestCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import type { ExtensionOptions } from './extension-server.ts'

/** The Service of the extension server. */
export const service = { namespace: 'default', name: 'orchard' }
export const apiServiceName = 'v1.orchard.example.com'
export const apiServicePath = `/apis/apiregistration.k8s.io/v1/apiservices/${apiServiceName}`

/** An address of this machine that endpoints may have. Loopback addresses are rejected. */
export const machineAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

export interface Extension {
  readonly port: number
  readonly authority: KeyPair
  stop(): Promise<void>
}

/** Starts the process. It ends with the test at the latest. */
export async function extensionServer(
  t: Lifetime,
  cluster: TestCluster,
  { aggregatedDiscovery = true, port = 0 } = {},
): Promise<Extension> {
  const now = new Date()
  const authority = await makeAuthority('orchard-ca', now)
  const serving = await issueCertificate(
    authority,
    { commonName: 'orchard', usage: 'server', hosts: [`${service.name}.${service.namespace}.svc`] },
    now,
  )
  const { ask, stop } = askedProcess(t, join(import.meta.dirname, 'extension-server.ts'))
  const options: ExtensionOptions = { cluster: cluster.client, serving, aggregatedDiscovery, port }
  const { port: taken } = await ask<{ port: number }>(options)
  return { port: taken, authority, stop }
}

const serviceObject = (spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: service.name },
  spec,
})

/** A Service that is an alias of this machine: requests are sent to the port of the APIService. */
export const externalNameService = serviceObject({ type: 'ExternalName', externalName: 'localhost' })

export const clusterIpService = serviceObject({ ports: [{ name: 'https', port: 443 }] })

/** The endpoints of the Service. */
export const endpointSlice = (ip: string, port: number, name = 'https'): object => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'orchard-1', labels: { 'kubernetes.io/service-name': service.name } },
  addressType: 'IPv4',
  endpoints: [{ addresses: [ip], conditions: { ready: true } }],
  ports: [{ name, port }],
})

/** The APIService; `port` is the port of its Service. */
export const apiService = ({
  authority,
  port = 443,
  ...spec
}: {
  authority?: KeyPair
  port?: number
  [field: string]: unknown
}): object => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: apiServiceName },
  spec: {
    group: 'orchard.example.com',
    version: 'v1',
    groupPriorityMinimum: 1500,
    versionPriority: 15,
    service: { ...service, port },
    ...(authority && { caBundle: Buffer.from(authority.cert).toString('base64') }),
    ...spec,
  },
})

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** Resolves with the condition Available of the APIService when it has the reason. */
export function becomes(cluster: TestCluster, reason: string): Promise<Condition> {
  return waitFor(`the APIService has the reason ${reason}`, async () => {
    const { status } = (await cluster.call('GET', apiServicePath)) as {
      readonly status?: { readonly conditions?: readonly Condition[] }
    }
    const found = status?.conditions?.find(({ type }) => type === 'Available')
    if (found?.reason !== reason) throw new Error(`it is ${JSON.stringify(found)}`)
    return found
  })
}

/** Starts an extension server. Resolves when it is registered and available. */
export async function registered(
  t: Lifetime,
  cluster: TestCluster,
  options: { aggregatedDiscovery?: boolean } = {},
): Promise<Extension> {
  const extension = await extensionServer(t, cluster, options)
  await cluster.call('POST', `/api/v1/namespaces/${service.namespace}/services`, externalNameService)
  await cluster.call(
    'POST',
    '/apis/apiregistration.k8s.io/v1/apiservices',
    apiService({ authority: extension.authority, port: extension.port }),
  )
  await becomes(cluster, 'Passed')
  return extension
}
