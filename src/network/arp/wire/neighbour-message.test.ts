import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeNeighbourMessage, encodeAddressSearch } from './neighbour-message.ts'

/** `tcpdump -xx` of Linux searching for fd00::5 before it takes the address; without the option of a nonce. */
const search = Buffer.from(
  '3333ff0000050a5800000005' +
    '86dd' +
    '6000000000183aff' +
    '00000000000000000000000000000000' +
    'ff0200000000000000000001ff000005' +
    '87007c2b' +
    '00000000' +
    'fd000000000000000000000000000005',
  'hex',
)

test('a search for an address goes from no address to the group of the address', () => {
  const frame = encodeAddressSearch('0a:58:00:00:00:05', 'fd00::5')
  assert.deepEqual(frame.subarray(0, 54), search.subarray(0, 54))
  assert.deepEqual(decodeNeighbourMessage(frame), { kind: 'search', address: 'fd00::5', hardware: '0a:58:00:00:00:05' })
  // The sum of everything that the checksum covers, itself included, is 0xffff.
  const covered = Buffer.concat([frame.subarray(22, 54), Buffer.from('000000180000003a', 'hex'), frame.subarray(54)])
  let sum = 0
  for (let at = 0; at < covered.length; at += 2) sum += covered.readUInt16BE(at)
  assert.equal((sum & 0xffff) + (sum >>> 16), 0xffff)
})

test('an advertisement names the hardware address of its option', () => {
  const bytes = Buffer.from(
    '333300000001' +
      '0a5800000009' +
      '86dd' +
      '6000000000203aff' +
      'fd000000000000000000000000000005' +
      'ff020000000000000000000000000001' +
      '88000000' +
      '20000000' +
      'fd000000000000000000000000000005' +
      '02011207' +
      '6bbe20d2',
    'hex',
  )
  const expected = { kind: 'advertisement', address: 'fd00::5', hardware: '12:07:6b:be:20:d2' } as const
  assert.deepEqual(decodeNeighbourMessage(bytes), expected)
  const without = bytes.subarray(0, 14 + 40 + 24)
  assert.deepEqual(decodeNeighbourMessage(without), { ...expected, hardware: '0a:58:00:00:00:09' })
})

test('other frames are no messages about neighbours', () => {
  assert.equal(decodeNeighbourMessage(search.subarray(0, 60)), undefined)
  assert.equal(decodeNeighbourMessage(Buffer.alloc(100)), undefined)
  const routed = Buffer.from(search)
  routed[21] = 64
  assert.equal(decodeNeighbourMessage(routed), undefined)
})
