import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { Event_EventType, Watch } from '#protobuf/flannel-etcd_pb.js'
import type { RpcStream, StreamObserver } from '../../../../storage/etcd/client/connection.ts'
import type { StoredLease, StoredLeases } from './subnet-registry.ts'
import { type StoredEvent, SubnetWatch } from './subnet-watch.ts'

const leaseOf = (subnet: string): StoredLease => ({
  node: subnet,
  subnet,
  ipv6Subnet: undefined,
  attributes: { backendType: 'vxlan' },
  revision: 1n,
  leaseId: 1n,
})

/** An etcd whose streams are answered by the test. */
class FakeEtcd {
  readonly starts: bigint[] = []
  stored: StoredLeases = { revision: 1n, leases: [] }
  lists = 0
  #observer: StreamObserver | undefined
  #opened = Promise.withResolvers<void>()

  readonly calls = {
    stream: async (_: unknown, observer: StreamObserver): Promise<RpcStream> => {
      this.#observer = observer
      return {
        send: (bytes) => {
          const { requestUnion } = fromBinary(Watch.method.watch.input, bytes)
          this.starts.push(requestUnion.value?.startRevision ?? 0n)
          this.#opened.resolve()
        },
        finish() {},
        pause() {},
        resume() {},
        close() {},
      }
    },
  }
  readonly registry = {
    range: { key: Buffer.from('/n/subnets/'), rangeEnd: Buffer.from('/n/subnets0') },
    list: async () => {
      this.lists++
      return this.stored
    },
    leaseOf: ({ key }: { readonly key: Uint8Array }) => leaseOf(Buffer.from(key).toString()),
  }

  async opened(): Promise<void> {
    await this.#opened.promise
    this.#opened = Promise.withResolvers()
  }

  answer(response: {
    readonly canceled?: boolean
    readonly compactRevision?: bigint
    readonly revision?: bigint
    readonly written?: string
    readonly removed?: string
  }): void {
    const { canceled = false, compactRevision = 0n, revision = 0n, written, removed } = response
    const key = Buffer.from(written ?? removed ?? '')
    const type = written === undefined ? Event_EventType.DELETE : Event_EventType.PUT
    const { output } = Watch.method.watch
    const events = key.length === 0 ? [] : [{ type, kv: { key } }]
    const message = create(output, { header: { revision }, canceled, compactRevision, events })
    this.#observer?.message(Buffer.from(toBinary(output, message)))
  }
}

test('a watch that fell behind a compaction reads all subnets again and goes on from there', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const etcd = new FakeEtcd()
  const events: StoredEvent[] = []
  const stopping = new AbortController()
  const watch = new SubnetWatch({ calls: etcd.calls, registry: etcd.registry, log: () => {} })
  const running = watch.run((event) => events.push(event), stopping.signal)

  await etcd.opened()
  etcd.answer({ revision: 7n, written: '10.5.1.0-24' })
  etcd.answer({ revision: 8n, removed: '/n/subnets/10.5.1.0-24' })
  // A stream that ends goes on after its last event.
  etcd.answer({ canceled: true })
  const opened = etcd.opened()
  while (etcd.starts.length < 2) {
    await new Promise(setImmediate)
    t.mock.timers.tick(100)
  }
  await opened
  assert.deepEqual(etcd.starts, [2n, 9n])
  assert.equal(etcd.lists, 1)

  etcd.stored = { revision: 50n, leases: [leaseOf('10.5.2.0/24')] }
  etcd.answer({ canceled: true, compactRevision: 40n })
  while (etcd.starts.length < 3) {
    await new Promise(setImmediate)
    t.mock.timers.tick(5_000)
  }
  assert.deepEqual(etcd.starts, [2n, 9n, 51n])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['snapshot', 'written', 'removed', 'snapshot'],
  )
  stopping.abort()
  await running
})
