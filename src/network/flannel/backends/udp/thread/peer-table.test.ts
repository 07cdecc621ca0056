import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PeerTable } from './peer-table.ts'

const port = 8285
const number = (address: string): number => Buffer.from(address.split('.').map(Number)).readUInt32BE()
const found = (table: PeerTable, address: string): string | undefined => table.find(number(address))?.toString('hex')

test('a packet goes to the node with the longest prefix', () => {
  const table = new PeerTable()
  table.set([
    { subnet: '10.244.0.0/16', address: '192.168.33.1', port },
    { subnet: '10.244.2.0/24', address: '192.168.33.2', port },
    { subnet: '200.1.0.0/17', address: '192.168.33.3', port },
    { subnet: 'fd00::/64', address: 'fd33::1', port },
  ])
  const nodeAt = (last: number): string => `0200205dc0a8210${last}${'00'.repeat(8)}`
  assert.equal(found(table, '10.244.2.9'), nodeAt(2))
  assert.equal(found(table, '10.244.3.9'), nodeAt(1))
  assert.equal(found(table, '200.1.127.255'), nodeAt(3))
  assert.equal(found(table, '200.1.128.0'), undefined)
})

test('replaced nodes are not found any more', () => {
  const table = new PeerTable()
  table.set([{ subnet: '10.244.2.0/24', address: '192.168.33.2', port }])
  assert.ok(found(table, '10.244.2.9'))
  table.set([])
  assert.equal(found(table, '10.244.2.9'), undefined)
})
