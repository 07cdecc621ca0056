/** A server of the three metrics APIs, aggregated by a cluster: it returns the metrics set by the test. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import type { Lifetime, TestCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

interface PodUse {
  readonly name: string
  /** Usage by container and resource. */
  readonly containers: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** The metrics, which the test changes. */
export interface Measured {
  pods: readonly PodUse[]
  /** Values by object name, keyed by the path after the namespace, such as `services/web/requests`. */
  custom: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Values by metric name. */
  external: Readonly<Record<string, readonly string[]>>
}

const groups = ['metrics.k8s.io', 'custom.metrics.k8s.io', 'external.metrics.k8s.io']
const version = 'v1beta1'
const service = { namespace: 'default', name: 'metrics' }

/**
 * Starts and registers the server; resolves when all three APIs are available. `requests`: paths and queries of all
 * requests for metrics.
 */
export async function metricsServer(
  t: Lifetime,
  cluster: TestCluster,
): Promise<{ readonly measured: Measured; readonly requests: string[] }> {
  const measured: Measured = { pods: [], custom: {}, external: {} }
  const requests: string[] = []
  const authority = await makeAuthority('metrics-ca', new Date())
  const serving = await issueCertificate(
    authority,
    { commonName: 'metrics', usage: 'server', hosts: ['metrics.default.svc'] },
    new Date(),
  )
  const server = createServer(serving, (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'https://metrics')
    const answer = answerTo(pathname, measured)
    if (pathname.includes('/namespaces/')) requests.push(decodeURIComponent((request.url ?? '').replaceAll('+', ' ')))
    response
      .writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer ?? { kind: 'Status', message: 'no such metric' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  const { port } = server.address() as AddressInfo
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  await cluster.call('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service.name },
    spec,
  })
  const path = '/apis/apiregistration.k8s.io/v1/apiservices'
  for (const group of groups) {
    const caBundle = Buffer.from(authority.cert).toString('base64')
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 }
    await cluster.call('POST', path, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: { group, version, service: { ...service, port }, caBundle, ...priorities },
    })
  }
  for (const group of groups) {
    await waitFor(`${group} is available`, async () => {
      const { status } = (await cluster.call('GET', `${path}/${version}.${group}`)) as {
        status?: { conditions?: { type: string; status: string }[] }
      }
      return status?.conditions?.some((condition) => condition.type === 'Available' && condition.status === 'True')
    })
  }
  return { measured, requests }
}

function answerTo(path: string, { pods, custom, external }: Measured): object | undefined {
  const timestamp = new Date().toISOString()
  const [, group = '', rest] = /^\/apis\/([^/]+)\/v1beta1(?:\/namespaces\/default\/(.*))?$/.exec(path) ?? []
  if (rest === undefined)
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources: [] }
  if (group === 'metrics.k8s.io') {
    const items = pods.map(({ name, containers }) => ({
      metadata: { name, namespace: 'default' },
      timestamp,
      window: '30s',
      containers: Object.entries(containers).map(([container, usage]) => ({ name: container, usage })),
    }))
    return { kind: 'PodMetricsList', apiVersion: `${group}/${version}`, metadata: {}, items }
  }
  if (group === 'custom.metrics.k8s.io') {
    const values = custom[rest]
    if (!values) return undefined
    const items = Object.entries(values).map(([name, value]) => ({
      describedObject: { name },
      metricName: rest,
      timestamp,
      value,
    }))
    return { kind: 'MetricValueList', apiVersion: `${group}/${version}`, metadata: {}, items }
  }
  const items = external[rest]?.map((value) => ({ metricName: rest, metricLabels: {}, timestamp, value }))
  return items && { kind: 'ExternalMetricValueList', apiVersion: `${group}/${version}`, metadata: {}, items }
}
