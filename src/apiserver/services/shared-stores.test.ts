/** Allocations that several servers on one store share. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { memoryStore } from '../../storage/memory/index.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'
import { faultsOf, ip, nodePorts, ServiceWriter } from './service-writer.fixture.ts'

const nodePort = { type: 'NodePort' } as const

/** Two servers that always choose the first value. `one` writes during a write of `two`, the first or `during`. */
function outrun(t: TestContext, write: (one: ServiceWriter) => Promise<unknown>, during?: string) {
  const store = memoryStore()
  const random = (): number => 0
  const one = new ServiceWriter(t, { store, random })
  let isWritten = false
  const meanwhile: AdmissionPlugin = {
    name: 'meanwhile',
    async validate({ name }) {
      if (isWritten || (during && name !== during)) return
      isWritten = true
      await write(one)
    },
  }
  return { one, two: new ServiceWriter(t, { store, random, plugins: [meanwhile] }) }
}

describe('the store', () => {
  test('a new server on a store knows the allocations of others', async (t) => {
    const store = memoryStore()
    const [one, two] = [
      new ServiceWriter(t, { store, clusterIpRange: '10.0.0.0/28' }),
      new ServiceWriter(t, { store, clusterIpRange: '10.0.0.0/28' }),
    ]
    const made = await Promise.all(
      Array.from({ length: 7 }, (_, i) => [one.create(`a-${i}`), two.create(`b-${i}`)])
        .flat()
        .map((write) => write.catch(() => undefined)),
    )
    const addresses = made.flatMap((service) => (service ? [ip(service)] : []))
    assert.equal(new Set(addresses).size, addresses.length)
    assert.deepEqual(await two.addresses(), await one.addresses())
  })

  test('of two servers that choose the same address and port, the slower one chooses others', async (t) => {
    const { one, two } = outrun(t, (one) => one.create('a', nodePort))
    const service = await two.create('b', nodePort)
    assert.deepEqual([ip(service), ...nodePorts(service)], ['10.0.0.18', 30_087])
    assert.deepEqual(await one.addresses(), ['10.0.0.17', '10.0.0.18'])
  })

  test('of two servers that are asked for the same port, the slower one rejects it', async (t) => {
    const requested = { ...nodePort, ports: [{ port: 80, nodePort: 30_500 }] }
    const { two } = outrun(t, (one) => one.create('a', requested))
    assert.equal(
      await faultsOf(two.create('b', requested)),
      'spec.ports[0].nodePort: provided port is already allocated',
    )
  })

  test('of two servers that give Services the same port by an update, the slower one chooses another', async (t) => {
    const { one, two } = outrun(t, (one) => one.change('a', nodePort), 'b')
    await one.create('a')
    await one.create('b')
    assert.deepEqual(nodePorts(await two.change('b', nodePort)), [30_087])
  })

  test('two servers allocate all node ports without a double, and free those of deleted Services', async (t) => {
    const store = memoryStore()
    const options = { store, nodePortRange: '30000-30099', clusterIpRange: '10.0.0.0/25' }
    const writers = [new ServiceWriter(t, options), new ServiceWriter(t, options)]
    const all = await Promise.all(Array.from({ length: 100 }, (_, i) => writers[i % 2]!.create(`s-${i}`, nodePort)))
    assert.equal(new Set(all.flatMap(nodePorts)).size, 100)
    assert.equal(new Set(all.map(ip)).size, 100)
    await assert.rejects(writers[0]!.create('t', nodePort), /failed to allocate a nodePort: range is full/)
    await Promise.all(all.map(({ metadata: { name = '' } }, i) => writers[(i + 1) % 2]!.remove(name)))
    assert.deepEqual(await writers[0]!.addresses(), [])
    const again = await Promise.all(Array.from({ length: 100 }, (_, i) => writers[i % 2]!.create(`t-${i}`, nodePort)))
    assert.equal(new Set(again.flatMap(nodePorts)).size, 100)
  })

  test('the start creates missing IPAddresses and deletes leftover ones, but not those of others', async (t) => {
    const store = memoryStore()
    const before = new ServiceWriter(t, { store })
    await before.create('s', { clusterIP: '10.0.0.9' })
    const prefix = '/registry/ipaddresses/'
    const theirs = {
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: '10.0.0.30' },
      spec: { parentRef: { resource: 'services', name: 'x' } },
    }
    const left = {
      ...theirs,
      metadata: { name: '10.0.0.31', labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
    }
    await store.commit({
      conditions: [],
      operations: [
        { key: `${prefix}10.0.0.9`, delete: true },
        ...[theirs, left].map((object) => ({
          key: prefix + object.metadata.name,
          value: Buffer.from(JSON.stringify(object)),
        })),
      ],
    })
    const writer = new ServiceWriter(t, { store })
    await writer.allocation.begin({ bindAddress: '192.0.2.1', port: 6443, context: writer.context('') })
    assert.deepEqual(await writer.addresses(), ['10.0.0.1', '10.0.0.30', '10.0.0.9'])
    assert.match(await faultsOf(writer.create('t', { clusterIP: '10.0.0.30' })), /already allocated$/)
  })
})
