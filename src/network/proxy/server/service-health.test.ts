import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { PictureOfServices } from '../picture/service-picture.ts'
import { ServiceHealthServers } from './service-health.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  assert(address && typeof address === 'object')
  return address.port
}

const service = (healthCheckNodePort: number | undefined): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.7',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort,
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'https', port: 443, protocol: 'TCP' },
    ],
  },
})

const slice = (nodes: readonly string[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [
    { name: 'http', port: 8080, protocol: 'TCP' },
    { name: 'https', port: 8443, protocol: 'TCP' },
  ],
  endpoints: nodes.map((nodeName, at) => ({ addresses: [`10.244.0.${at + 2}`], nodeName })),
})

function pictureOf(one: Service, nodes: readonly string[]) {
  const picture = new PictureOfServices(4, { node: 'here', zone: '' })
  picture.setService(one, undefined)
  picture.setSlice(slice(nodes), undefined)
  picture.update()
  return picture.picture
}

test('a health-check node port answers with the number of endpoints on this node', async () => {
  const state = { isHealthy: true }
  const failures: string[] = []
  const servers = new ServiceHealthServers({
    addresses: () => ['127.0.0.1'],
    isProxyHealthy: () => state.isHealthy,
    onFailure: (_service, _port, message) => void failures.push(message),
  })
  const port = await freePort()
  const answer = () => fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  await servers.sync(pictureOf(service(port), ['here', 'there', 'here']))
  const local = await answer()
  assert.equal(local.status, 200)
  assert.equal(local.headers.get('x-load-balancing-endpoint-weight'), '2')
  assert.deepEqual(await local.json(), {
    service: { namespace: 'default', name: 'web' },
    localEndpoints: 2,
    serviceProxyHealthy: true,
  })
  state.isHealthy = false
  assert.equal((await answer()).status, 503)
  state.isHealthy = true
  await servers.sync(pictureOf(service(port), ['there']))
  assert.equal((await answer()).status, 503)
  await servers.sync(pictureOf(service(undefined), ['here']))
  await assert.rejects(answer())
  assert.deepEqual(failures, [])
  await servers.stop()
})

test('a port that is taken is reported once, and tried again', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  assert(address && typeof address === 'object')
  const failures: number[] = []
  const servers = new ServiceHealthServers({
    addresses: () => ['127.0.0.1'],
    isProxyHealthy: () => true,
    onFailure: (_service, port) => void failures.push(port),
  })
  const picture = pictureOf(service(address.port), ['here'])
  await servers.sync(picture)
  await servers.sync(picture)
  assert.deepEqual(failures, [address.port])
  await new Promise((resolve) => other.close(resolve))
  await servers.sync(picture)
  assert.equal((await fetch(`http://127.0.0.1:${address.port}/`)).status, 200)
  await servers.stop()
})
