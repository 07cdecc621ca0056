/** Allocations that several servers on one store share. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StatusError } from '../../machinery/status-error.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'
import { faultsOf, ip, ServiceWriter } from './service-writer.fixture.ts'

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

  test('of two servers that choose the same address, the slower one asks the client to retry', async (t) => {
    const store = memoryStore()
    const random = (): number => 0
    const one = new ServiceWriter(t, { store, random })
    const meanwhile: AdmissionPlugin = { name: 'meanwhile', validate: async () => void (await one.create('a')) }
    const two = new ServiceWriter(t, { store, random, plugins: [meanwhile] })
    await assert.rejects(
      two.create('b'),
      ({ reason, status }: StatusError) => reason === 'ServerTimeout' && status.details?.retryAfterSeconds === 1,
    )
    assert.deepEqual(await two.addresses(), ['10.0.0.17'])
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
