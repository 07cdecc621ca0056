/** Bytes of messages, as etcd's own code writes and reads them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rangeMethod } from './range.ts'
import { txnMethod } from './txn.ts'
import { decodeWatchResponse, encodeCancellation, encodeCreation } from './watch.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const joined = (text: string): string => text.replaceAll(/\s/g, '')

/** A header with cluster, member, revision 300 and term. */
const header = '0a 12 08 ffffffffffffffffff01 10 07 18 ac02 20 02'
/** The key `/a` with created revision, revision 299, version 2, the value `v` and a lease. */
const kv = '0a 02 2f61 10 05 18 ab02 20 02 2a 01 76 30 8080808080808080 40'

test('a read of a key at a revision', () => {
  assert.equal(encoded(rangeMethod.encode({ key: '/a', revision: 300 })), joined('0a 02 2f61 20 ac02'))
})

test('a page of a range, and its number of keys', () => {
  const range = { key: '/ä', rangeEnd: '/b', limit: 2_000 }
  assert.equal(encoded(rangeMethod.encode(range)), joined('0a 03 2fc3a4 12 02 2f62 18 d00f'))
  const all = { key: '\0', rangeEnd: '\0', countOnly: true }
  assert.equal(encoded(rangeMethod.encode(all)), joined('0a 01 00 12 01 00 48 01'))
})

test('an answer to a read', () => {
  assert.deepEqual(rangeMethod.decode(hex(`${header} 12 18 ${kv} 18 01 20 03`)), {
    current: 300,
    found: [{ entry: { key: '/a', value: Buffer.from('v'), revision: 299 }, version: 2 }],
    more: true,
    count: 3,
  })
  assert.deepEqual(rangeMethod.decode(hex(header)), { current: 300, found: [], more: false, count: 0 })
})

test('a write of a key at a revision', () => {
  const request = txnMethod.encode({
    conditions: [{ key: '/a', target: 'revision', value: 299 }],
    operations: [{ key: '/a', value: Buffer.from('v') }],
    otherwise: ['/a'],
  })
  const compare = '0a 09 10 02 1a 02 2f61 30 ab02'
  assert.equal(encoded(request), joined(`${compare} 12 09 12 07 0a 02 2f61 12 01 76 1a 06 0a 04 0a 02 2f61`))
})

test('a condition of a missing key names the revision 0', () => {
  const request = { conditions: [{ key: '/a', target: 'revision', value: 0 }], operations: [], otherwise: [] } as const
  assert.equal(encoded(txnMethod.encode(request)), joined('0a 08 10 02 1a 02 2f61 30 00'))
})

test('a condition of a version', () => {
  const request = { conditions: [{ key: '/a', target: 'version', value: 1 }], operations: [], otherwise: [] } as const
  assert.equal(encoded(txnMethod.encode(request)), joined('0a 06 1a 02 2f61 20 01'))
})

test('operations in their order: with a lease, with an empty value, and a deletion', () => {
  const operations = [
    { key: '/a', value: Buffer.from('v'), lease: 0x7fff_ffff_ffff_ffffn },
    { key: '/b', value: Buffer.alloc(0) },
    { key: '/c' },
  ]
  assert.equal(
    encoded(txnMethod.encode({ conditions: [], operations, otherwise: [] })),
    joined(`12 13 12 11 0a 02 2f61 12 01 76 18 ffffffffffffffff7f
            12 06 12 04 0a 02 2f62
            12 06 1a 04 0a 02 2f63`),
  )
})

test('a large value has its length in several bytes', () => {
  const value = Buffer.alloc(300, 'x')
  const bytes = txnMethod.encode({ conditions: [], operations: [{ key: '/a', value }], otherwise: [] })
  assert.equal(encoded(bytes), joined(`12 b602 12 b302 0a 02 2f61 12 ac02 ${value.toString('hex')}`))
})

test('the answer to a write', () => {
  const put = '1a 06 12 04 0a 02 18 05'
  assert.deepEqual(txnMethod.decode(hex(`${header} 10 01 ${put}`)), { succeeded: true, current: 300, found: [] })
})

test('the answer to a write whose conditions are not true', () => {
  const found = `1a 1c 0a 1a 12 18 ${kv}`
  const missing = '1a 06 0a 04 0a 02 18 05'
  assert.deepEqual(txnMethod.decode(hex(`${header} ${found} ${missing}`)), {
    succeeded: false,
    current: 300,
    found: [{ entry: { key: '/a', value: Buffer.from('v'), revision: 299 }, version: 2 }, undefined],
  })
})

test('the creation and the end of a watch', () => {
  const creation = { key: '\0', rangeEnd: '\0', startRevision: 300, wantsPrevious: true }
  assert.equal(encoded(encodeCreation(creation)), joined('0a 0b 0a 01 00 12 01 00 18 ac02 30 01'))
  assert.equal(encoded(encodeCancellation(0)), joined('12 00'))
  assert.equal(encoded(encodeCancellation(300)), joined('12 03 08 ac02'))
})

test('a watch that etcd ends', () => {
  assert.deepEqual(decodeWatchResponse(hex(`${header} 10 ffffffffffffffffff01 18 01 20 01 28 ab02 32 01 78`)), {
    current: 300,
    watchId: -1,
    created: true,
    canceled: true,
    compactRevision: 299,
    events: [],
  })
})

test('events of a watch', () => {
  const put = `5a 1a 12 18 ${kv}`
  const deletion = `5a 25 08 01 12 07 0a 02 2f61 18 ac02 1a 18 ${kv}`
  const { watchId, events } = decodeWatchResponse(hex(`${header} 10 03 ${put} ${deletion}`))
  const entry = { key: '/a', value: Buffer.from('v'), revision: 299 }
  assert.equal(watchId, 3)
  assert.deepEqual(events, [
    { change: { type: 'put', ...entry, previous: undefined }, version: 2 },
    { change: { type: 'delete', key: '/a', revision: 300, previous: entry }, version: 0 },
  ])
})

const incomplete: Readonly<Record<string, string>> = {
  'a field': '12 05 0a',
  'an integer': '18 ff',
  'a long integer': '18 ffffffffffffffff',
  'a key': '12 02 0a 05',
  'an unknown integer': '78 ff',
  'an unknown number': '79 00',
}
for (const [name, bytes] of Object.entries(incomplete))
  test(`a message that ends within ${name} is an error`, () => {
    assert.throws(() => rangeMethod.decode(hex(bytes)), /etcd sent an incomplete message/)
  })

test('a field without number is an error', () => {
  assert.throws(() => rangeMethod.decode(hex('0200')), /etcd sent a message that is not valid/)
})

test('unknown fields of all kinds are skipped', () => {
  const unknown = '78 8001 79 0102030405060708 7a 01 00 7d 01020304'
  assert.equal(rangeMethod.decode(hex(`${unknown} 20 03 ${unknown}`)).count, 3)
  assert.throws(() => rangeMethod.decode(hex('7b')), /etcd sent a message that is not valid/)
})
