import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeArp, encodeArp, encodeIpv4Arp, ipv4ArpOf, operations } from './arp-packet.ts'
import { decodeFrame, encodeFrame, etherTypes } from './ethernet-frame.ts'
import { broadcastAddress, noHardwareAddress } from './hardware-address.ts'

/** `tcpdump -xx` of `ping 192.168.1.101` from 192.168.1.100. */
const request = Buffer.from(
  'ffffffffffff3a1154e07c0108060001080006040001' + '3a1154e07c01c0a80164' + '000000000000c0a80165',
  'hex',
)
const fields = {
  operation: operations.request,
  senderHardware: '3a:11:54:e0:7c:01',
  senderAddress: '192.168.1.100',
  targetHardware: noHardwareAddress,
  targetAddress: '192.168.1.101',
}

test('a request for Ethernet and IPv4 has 28 bytes in the order of RFC 826', () => {
  const payload = encodeIpv4Arp(fields)
  assert.equal(payload.length, 28)
  const frame = { destination: broadcastAddress, source: fields.senderHardware, etherType: etherTypes.arp, payload }
  assert.deepEqual(encodeFrame(frame), request)
  assert.deepEqual(decodeFrame(request), frame)
  const decoded = decodeArp(payload)
  assert.ok('packet' in decoded)
  assert.deepEqual([decoded.size, ipv4ArpOf(decoded.packet)], [28, fields])
})

test('bytes after a packet are padding', () => {
  const decoded = decodeArp(Buffer.concat([request.subarray(14), Buffer.alloc(18)]))
  assert.ok('packet' in decoded)
  assert.equal(decoded.size, 28)
})

test('the size of a packet follows HLEN and PLEN', () => {
  const packet = {
    hardwareType: 32,
    protocolType: 0x86dd,
    operation: 2,
    senderHardware: Buffer.alloc(20, 1),
    senderProtocol: Buffer.alloc(16, 2),
    targetHardware: Buffer.alloc(20, 3),
    targetProtocol: Buffer.alloc(16, 4),
  }
  const bytes = encodeArp(packet)
  assert.deepEqual(decodeArp(bytes), { packet, size: 80 })
  assert.equal(ipv4ArpOf(packet), undefined)
  assert.throws(() => encodeArp({ ...packet, targetHardware: Buffer.alloc(6) }), /the same size/)
})

test('malformed packets are named', () => {
  const problemOf = (bytes: Buffer): string => {
    const decoded = decodeArp(bytes)
    return 'problem' in decoded ? decoded.problem : 'none'
  }
  const bytes = request.subarray(14)
  assert.match(problemOf(bytes.subarray(0, 5)), /cut off: it has 5 bytes, and its first fields need 8/)
  assert.match(
    problemOf(bytes.subarray(0, 20)),
    /cut off: it has 20 bytes, and HLEN 6 and PLEN 4 make it 28 bytes long/,
  )
  const changed = (at: number, value: number): Buffer => {
    const copy = Buffer.from(bytes)
    copy[at] = value
    return copy
  }
  assert.match(problemOf(changed(4, 8)), /HLEN is 8: hardware addresses of Ethernet have 6 bytes/)
  assert.match(problemOf(changed(5, 16)), /PLEN is 16: addresses of IPv4 have 4 bytes/)
})

test('the tag of a virtual LAN stands before the type', () => {
  const tagged = Buffer.concat([request.subarray(0, 12), Buffer.from('81000064', 'hex'), request.subarray(12)])
  const frame = decodeFrame(tagged)
  assert.deepEqual([frame?.vlan, frame?.etherType, frame?.payload.length], [100, etherTypes.arp, 28])
  assert.equal(decodeFrame(request.subarray(0, 13)), undefined)
})
