/**
 * Tests of the conformance suite for proxy subresources (`test/e2e/network/proxy.go`): every method reaches pods and
 * Services, with a path and without.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import { backend, needsAddress, pod, podAddress, serviceOf } from '../../proxy/backend.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'

const base = '/api/v1/namespaces/default'

async function ask({ client: { ca, cert, key, url } }: TestCluster, method: string, path: string) {
  const sent = request(new URL(path, url), { ca, cert, key, agent: false, method }).end()
  const [response]: IncomingMessage[] = await once(sent, 'response')
  return {
    status: response!.statusCode,
    location: response!.headers.location,
    text: Buffer.concat(await response!.toArray()).toString(),
  }
}

async function answering(t: Parameters<typeof backend>[0]): Promise<{ cluster: TestCluster; port: number }> {
  const cluster = await testCluster(t)
  const { port } = await backend(t, ({ method }, response) =>
    response.end(JSON.stringify({ Method: method, Body: 'foo' })),
  )
  await pod(cluster, 'agnhost', port)
  await unnamed(cluster, 'test-service', port)
  await serviceOf(cluster, 'named', 'agnhost', port)
  return { cluster, port }
}

/** Creates a Service whose port has no name, so that a path may omit it. */
async function unnamed(cluster: TestCluster, name: string, port: number): Promise<void> {
  await cluster.call('POST', `${base}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }] },
  })
  await cluster.call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [podAddress], targetRef: { kind: 'Pod', namespace: 'default', name: 'agnhost' } }],
    ports: [{ name: '', port }],
  })
}

test(
  'Proxy version v1 A set of valid responses are returned for both pod and service ProxyWithPath',
  needsAddress,
  async (t) => {
    const { cluster } = await answering(t)
    for (const what of ['pods/agnhost', 'services/test-service']) {
      for (const method of ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
        const { status, text } = await ask(cluster, method, `${base}/${what}/proxy/some/path/with/${method}`)
        assert.equal(status, 200, `${method} ${what}`)
        if (method !== 'HEAD') assert.deepEqual(JSON.parse(text), { Method: method, Body: 'foo' })
      }
    }
  },
)

test(
  'Proxy version v1 A set of valid responses are returned for both pod and service Proxy',
  needsAddress,
  async (t) => {
    const { cluster } = await answering(t)
    for (const what of ['pods/agnhost', 'services/test-service']) {
      for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
        const { status, text } = await ask(cluster, method, `${base}/${what}/proxy?method=${method}`)
        assert.equal(status, 200, `${method} ${what}`)
        assert.deepEqual(JSON.parse(text), { Method: method, Body: 'foo' })
      }
      // GET and HEAD without a path are redirected to the path with a slash.
      for (const method of ['GET', 'HEAD']) {
        const { status, location } = await ask(cluster, method, `${base}/${what}/proxy?method=${method}`)
        assert.deepEqual([status, location], [301, `${base}/${what}/proxy/?method=${method}`])
      }
    }
  },
)

test('Proxy version v1 should proxy through a service and a pod', needsAddress, async (t) => {
  const { cluster, port } = await answering(t)
  const secure = await backend(t, (_message, response) => response.end('tls baz'), { secure: true })
  for (const what of [
    'services/test-service',
    'services/named:http',
    'services/http:named:http',
    'services/named:80',
    `pods/agnhost:${port}`,
    `pods/http:agnhost:${port}`,
  ]) {
    const { status, text } = await ask(cluster, 'GET', `${base}/${what}/proxy/`)
    assert.equal(status, 200, what)
    assert.match(text, /foo/)
  }
  assert.equal((await ask(cluster, 'GET', `${base}/pods/https:agnhost:${secure.port}/proxy/`)).text, 'tls baz')
  await serviceOf(cluster, 'tls', 'agnhost', secure.port)
  assert.equal((await ask(cluster, 'GET', `${base}/services/https:tls:http/proxy/`)).text, 'tls baz')
})
