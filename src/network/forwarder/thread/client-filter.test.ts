import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressToBytes } from '../../netlink/address-bytes.ts'
import { clientFilter } from './client-filter.ts'

/** Runs a program as the kernel does, for a packet from an address; true if the packet passes. */
function passes(program: Buffer, client: string): boolean {
  const source = addressToBytes(client)
  const start = 0xfff00000 + (source.length === 4 ? 12 : 8)
  let value = 0
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8)
    const [ifTrue, ifFalse] = [program[at * 8 + 2]!, program[at * 8 + 3]!]
    const operand = program.readUInt32LE(at * 8 + 4)
    if (code === 0x20) value = source.readUInt32BE(operand - start)
    else if (code === 0x54) value = (value & operand) >>> 0
    else if (code === 0x15) at += value === operand ? ifTrue : ifFalse
    else if (code === 0x05) at += operand
    else if (code === 0x06) return operand !== 0
    else assert.fail(`unknown instruction ${code}`)
  }
  assert.fail('the program does not return')
}

test('clients of one of several ranges pass', () => {
  const program = clientFilter([['192.0.2.0/25', '198.51.100.7/32', '203.0.113.0/24']])
  for (const client of ['192.0.2.1', '192.0.2.127', '198.51.100.7', '203.0.113.255']) assert.ok(passes(program, client))
  for (const client of ['192.0.2.128', '198.51.100.8', '203.0.114.0', '127.0.0.1']) assert.ok(!passes(program, client))
})

test('ranges of IPv6 compare all words of the prefix', () => {
  const program = clientFilter([['2001:db8:1:2::/65', '::1/128']])
  for (const client of ['2001:db8:1:2::9', '::1']) assert.ok(passes(program, client))
  for (const client of ['2001:db8:1:2:8000::9', '2001:db8:1:3::9', '::2']) assert.ok(!passes(program, client))
})

test('clients must be in a range of each list', () => {
  const program = clientFilter([['10.0.0.0/8', '192.0.2.0/24'], ['192.0.2.0/30']])
  assert.ok(passes(program, '192.0.2.1'))
  assert.ok(!passes(program, '192.0.2.9'))
  assert.ok(!passes(program, '10.0.0.1'))
})

test('an empty list excludes all, a range of all addresses none', () => {
  assert.ok(!passes(clientFilter([[]]), '127.0.0.1'))
  assert.ok(passes(clientFilter([['0.0.0.0/0']]), '127.0.0.1'))
})

test('more ranges than the kernel accepts are an error', () => {
  const ranges = Array.from({ length: 2000 }, (_, i) => `10.0.${i >> 8}.${i & 255}/32`)
  assert.throws(() => clientFilter([ranges]), /2000 ranges of clients are too many/)
})
