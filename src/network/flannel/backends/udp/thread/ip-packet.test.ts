import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksum, decrementTtl, destinationOf, isIPv4Packet, netUnreachable } from './ip-packet.ts'

/** A packet of 8 bytes from 10.244.1.2 to 10.244.2.3. */
function packetOf({ ttl = 64, protocol = 17, fragment = 0, id = 0 } = {}): Buffer {
  const packet = Buffer.from('4500001c00000000' + '00000000' + '0af401020af40203' + '1f90003500080000', 'hex')
  packet.writeUInt16BE(id, 4)
  packet.writeUInt16BE(fragment, 6)
  packet[8] = ttl
  packet[9] = protocol
  packet.writeUInt16BE(checksum(packet.subarray(0, 20)), 10)
  return packet
}

test('the time to live is lowered, and the checksum of the header stays right', () => {
  for (let id = 0; id <= 0xffff; id += 7) {
    const bytes = Buffer.concat([Buffer.alloc(4), packetOf({ id, ttl: 2 + (id % 250) })])
    assert.ok(decrementTtl(bytes, 4))
    assert.equal(bytes[12], 1 + (id % 250))
    assert.equal(checksum(bytes.subarray(4, 24)), 0, `id ${id}`)
  }
})

test('a packet whose time is over is discarded', () => {
  assert.ok(!decrementTtl(packetOf({ ttl: 1 }), 0))
  assert.ok(!decrementTtl(packetOf({ ttl: 0 }), 0))
})

test('a packet without a way gets the error “network unreachable” from its destination', () => {
  const packet = packetOf()
  const error = netUnreachable(packet)!
  assert.equal(error.readUInt16BE(2), error.length)
  assert.equal(checksum(error.subarray(0, 20)), 0)
  assert.equal(checksum(error.subarray(20)), 0)
  assert.deepEqual([...error.subarray(8, 10)], [8, 1])
  assert.deepEqual([...error.subarray(12, 20)], [10, 244, 2, 3, 10, 244, 1, 2])
  assert.deepEqual([...error.subarray(20, 22)], [3, 0])
  assert.deepEqual(error.subarray(28), packet)
})

test('ICMP, later fragments and broken packets get no error', () => {
  assert.equal(netUnreachable(packetOf({ protocol: 1 })), undefined)
  assert.equal(netUnreachable(packetOf({ fragment: 3 })), undefined)
  assert.equal(netUnreachable(packetOf().subarray(0, 24)), undefined)
  const short = packetOf()
  short[0] = 0x44
  assert.equal(netUnreachable(short), undefined)
})

test('packets are those of IPv4 with a whole header', () => {
  const packet = packetOf()
  assert.ok(isIPv4Packet(packet, 0, packet.length))
  assert.equal(destinationOf(packet, 0), 0x0af40203)
  assert.ok(!isIPv4Packet(packet, 0, 19))
  packet[0] = 0x60
  assert.ok(!isIPv4Packet(packet, 0, packet.length))
})
