/** Allocation of node ports by writes of Services. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultsOf, nodePorts, ServiceWriter } from './service-writer.fixture.ts'

describe('node ports', () => {
  test('each port is allocated once, static or dynamic', async (t) => {
    const writer = new ServiceWriter(t, { nodePortRange: '30000-30100' })
    const made = await Promise.all(Array.from({ length: 50 }, (_, i) => writer.create(`s-${i}`, { type: 'NodePort' })))
    assert.equal(new Set(made.flatMap(nodePorts)).size, 50)
    const [taken = 0] = nodePorts(made[0]!)
    assert.equal(
      await faultsOf(writer.create('t', { type: 'NodePort', ports: [{ port: 80, nodePort: taken }] })),
      'spec.ports[0].nodePort: provided port is already allocated',
    )
    assert.equal(
      await faultsOf(writer.create('t', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })),
      'spec.ports[0].nodePort: provided port is not in the valid range. The range of valid ports is 30000-30100',
    )
  })

  test('protocols of one port share a node port', async (t) => {
    const writer = new ServiceWriter(t)
    const ports = [
      { name: 'tcp', port: 53, protocol: 'TCP' },
      { name: 'udp', port: 53, protocol: 'UDP' },
    ]
    const [tcp, udp] = nodePorts(await writer.create('dns', { type: 'NodePort', ports }))
    assert.ok(tcp && tcp === udp)
    const requested = ports.map((port) => ({ ...port, nodePort: 30072 }))
    assert.deepEqual(
      nodePorts(await writer.create('requested', { type: 'LoadBalancer', ports: requested })),
      [30072, 30072],
    )
  })

  test('an update without node ports retains them by the names of ports', async (t) => {
    const writer = new ServiceWriter(t)
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ]
    const [a, b] = nodePorts(await writer.create('s', { type: 'NodePort', ports }))
    const [c, b2, a2] = nodePorts(
      await writer.change('s', { ports: [{ name: 'c', port: 82 }, { name: 'b', port: 9 }, ports[0]!] }),
    )
    assert.deepEqual([a2, b2], [a, b])
    assert.ok(c && c !== a && c !== b)
  })

  test('changing the type releases node ports', async (t) => {
    const writer = new ServiceWriter(t, { nodePortRange: '30000-30000' })
    await writer.create('s', { type: 'NodePort' })
    assert.deepEqual(nodePorts(await writer.change('s', { type: 'ClusterIP' })), [0])
    assert.deepEqual(nodePorts(await writer.create('t', { type: 'LoadBalancer' })), [30000])
  })

  test('load balancers may have none, and have a health check port if traffic stays local', async (t) => {
    const writer = new ServiceWriter(t)
    const local = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, externalTrafficPolicy: 'Local' }
    const made = await writer.create('s', local)
    assert.deepEqual(nodePorts(made), [0])
    const { healthCheckNodePort } = made.spec!
    assert.ok(healthCheckNodePort)
    assert.equal(
      (await writer.change('s', { healthCheckNodePort: undefined })).spec?.healthCheckNodePort,
      healthCheckNodePort,
    )
    assert.equal(
      await faultsOf(writer.create('t', { ...local, healthCheckNodePort })),
      `failed to allocate requested HealthCheck NodePort ${healthCheckNodePort}: provided port is already allocated`,
    )
    assert.equal((await writer.change('s', { externalTrafficPolicy: 'Cluster' })).spec?.healthCheckNodePort, undefined)
    assert.equal(
      (await writer.create('t', { ...local, healthCheckNodePort })).spec?.healthCheckNodePort,
      healthCheckNodePort,
    )
  })
})
