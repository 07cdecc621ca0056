import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArpExplainer } from './captured-arp.ts'
import { packetLines, packetObject } from './packet-text.ts'

const reply = Buffer.from(
  '3a1154e07c0176cb150692870806' + '0001080006040002' + '76cb15069287c0a80165' + '3a1154e07c01c0a80164' + '0000',
  'hex',
)
const explained = (frame: Buffer) => new ArpExplainer().explain({ timeUs: 1_000_123_456, interface: 'c1', frame })!

test('a packet is printed with its fields, its meaning and its findings', () => {
  const [first, ...rest] = packetLines(explained(reply), false)
  assert.match(first!, /^\d\d:\d\d:40\.123456 c1 76:cb:15:06:92:87 > 3a:11:54:e0:7c:01 reply \[unsolicited\]$/)
  assert.deepEqual(rest, [
    '  HTYPE 1, PTYPE 0x0800, HLEN 6, PLEN 4, OP 2, SHA 76:cb:15:06:92:87, SPA 192.168.1.101, ' +
      'THA 3a:11:54:e0:7c:01, TPA 192.168.1.100',
    '  192.168.1.101 is at 76:cb:15:06:92:87; the answer goes to 192.168.1.100.',
    '  unsolicited: Nobody has asked for 192.168.1.101, yet 76:cb:15:06:92:87 answers 192.168.1.100: ' +
      'a program that writes caches of others, as spoofing and failovers do.',
  ])
})

test('bytes stand beside their fields, with their places', () => {
  const lines = packetLines(explained(reply), true).join('\n')
  assert.match(lines, /^ {3}7-12 {2}76 cb 15 06 92 87 {2}SRC {4}76:cb:15:06:92:87 {2}sender of the frame$/m)
  assert.match(lines, /^ {4}7-8 {2}00 02 {14}OP {5}2 {18}reply$/m)
  assert.match(lines, /^ {2}25-28 {2}c0 a8 01 64 {8}TPA {4}192\.168\.1\.100 {6}protocol address of the target$/m)
  assert.match(lines, /^ {2}29-30 {2}00 00 .* padding$/m)
})

test('a malformed packet is named, and its bytes are printed', () => {
  const lines = packetLines(explained(reply.subarray(0, 30)), true)
  assert.match(lines[0]!, / malformed$/)
  assert.match(lines.join('\n'), /^ {3}1-16 {2}00 01 08 00 .* not decoded$/m)
  assert.equal(
    lines.at(-1),
    '  Malformed: the packet is cut off: it has 16 bytes, and HLEN 6 and PLEN 4 make it 28 bytes long.',
  )
})

test('a packet is an object with the names of RFC 826', () => {
  const object = packetObject(explained(reply)) as { arp: object; kind: string; time: string }
  assert.deepEqual(object.arp, {
    htype: 1,
    ptype: 2048,
    hlen: 6,
    plen: 4,
    op: 2,
    sha: '76:cb:15:06:92:87',
    spa: '192.168.1.101',
    tha: '3a:11:54:e0:7c:01',
    tpa: '192.168.1.100',
  })
  assert.deepEqual([object.kind, object.time], ['reply', '1970-01-01T00:16:40.123Z'])
})
