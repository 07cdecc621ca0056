import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { envelope, field } from '../../../machinery/protobuf/encode.fixture.ts'
import { memoryStore } from '../../../storage/memory/index.ts'
import type { Store } from '../../../storage/store.ts'
import { parsePortRange } from '../ranges/port-range.ts'
import { nodePorts, ServiceWriter } from '../service-writer.fixture.ts'
import { recordedPorts, recordOf } from './port-bitmap.ts'
import { PortRecord } from './port-record.ts'

const key = '/registry/ranges/servicenodeports'
const range = parsePortRange('30000-30100')

const written = async (store: Store): Promise<number[]> => {
  const entry = await store.get(key)
  return [...(recordedPorts(entry!.value, range) ?? [])]
}
const putRecord = (store: Store, ports: readonly number[], of = range) =>
  store.commit({ conditions: [], operations: [{ key, value: recordOf(ports, of) }] })

describe('the record of node ports', () => {
  test('has one bit for each port, the last byte first', () => {
    assert.equal(
      recordOf([30000, 30009, 31000], range).toString(),
      '{"kind":"RangeAllocation","apiVersion":"v1","metadata":{},"range":"30000-30100","data":"AgE="}',
    )
    assert.deepEqual([...recordedPorts(recordOf([30100, 30001], range), range)!], [30001, 30100])
    assert.deepEqual([...recordedPorts(recordOf([], range), range)!], [])
  })

  test('of kube-apiserver is protobuf; one of another range is ignored', () => {
    const value = envelope('v1', 'RangeAllocation', [
      field(1, [field(1, '')]),
      field(2, '30000-30100'),
      field(3, Buffer.from([2, 1])),
    ])
    assert.deepEqual([...recordedPorts(value, range)!], [30000, 30009])
    assert.equal(recordedPorts(value, parsePortRange('30000-32767')), undefined)
  })

  test('follows the writes of Services', async (t) => {
    const store = memoryStore()
    const writer = new ServiceWriter(t, { store, nodePortRange: range.text })
    const made = await Promise.all(Array.from({ length: 20 }, (_, i) => writer.create(`s-${i}`, { type: 'NodePort' })))
    const all = made.flatMap(nodePorts).sort()
    assert.deepEqual(await written(store), all)
    await writer.change('s-0', { type: 'ClusterIP' })
    await writer.remove('s-1')
    await writer.change('s-2', { ports: [{ port: 81 }] })
    const left = await Promise.all(
      ['s-2', ...Array.from({ length: 17 }, (_, i) => `s-${i + 3}`)].map((name) => writer.change(name, {})),
    )
    assert.deepEqual(await written(store), left.flatMap(nodePorts).sort())
  })

  test('keeps servers from giving out a port twice', async (t) => {
    const store = memoryStore()
    const servers = [1, 2].map(() => new ServiceWriter(t, { store, nodePortRange: '30000-30049' }))
    const made = await Promise.all(
      servers.flatMap((server, s) =>
        Array.from({ length: 25 }, async (_, i) => {
          for (;;) {
            const service = await server.create(`s-${s}-${i}`, { type: 'NodePort' }).catch(() => undefined)
            if (service) return service
          }
        }),
      ),
    )
    assert.equal(new Set(made.flatMap(nodePorts)).size, 50)
  })

  test('has ports that another server has taken for a Service that is not written yet', async (t) => {
    const store = memoryStore()
    await putRecord(store, [30000, 30001], parsePortRange('30000-30002'))
    const writer = new ServiceWriter(t, { store, nodePortRange: '30000-30002' })
    assert.deepEqual(nodePorts(await writer.create('s', { type: 'NodePort' })), [30002])
  })

  test('is repaired: missing ports are added, and ports without a Service removed after three repairs', async () => {
    const store = memoryStore()
    const record = new PortRecord({ store, range, stored: () => [30001, 30002] })
    await record.repair()
    assert.deepEqual(await written(store), [30001, 30002])
    await putRecord(store, [30002, 30050])
    for (let i = 0; i < 2; i++) {
      await record.repair()
      assert.deepEqual(await written(store), [30001, 30002, 30050])
    }
    await record.repair()
    assert.deepEqual(await written(store), [30001, 30002])
    const { revision } = (await store.get(key))!
    await record.repair()
    assert.equal((await store.get(key))!.revision, revision)
  })
})
