import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Ipv4Arp, operations } from '../wire/arp-packet.ts'
import { broadcastAddress, noHardwareAddress } from '../wire/hardware-address.ts'
import { ArpObserver, type Finding } from './arp-observer.ts'
import { packetKind, packetMeaning } from './packet-kind.ts'

const [one, two, three] = ['3a:11:54:e0:7c:01', '76:cb:15:06:92:87', '12:07:6b:be:20:d2']
const request = (senderHardware: string, senderAddress: string, targetAddress: string): Ipv4Arp => ({
  operation: operations.request,
  senderHardware,
  senderAddress,
  targetHardware: noHardwareAddress,
  targetAddress,
})
const reply = (senderHardware: string, senderAddress: string, to = one, targetAddress = '10.0.0.1'): Ipv4Arp => ({
  operation: operations.reply,
  senderHardware,
  senderAddress,
  targetHardware: to,
  targetAddress,
})

/** A packet with its time in ms, and the source of its frame. */
type Observed = readonly [timeMs: number, arp: Ipv4Arp, source?: string]

/** Returns the findings of the last packet. */
function findingsOf(...packets: readonly Observed[]): Finding[] {
  const observer = new ArpObserver()
  let findings: Finding[] = []
  for (const [timeMs, arp, source = arp.senderHardware] of packets) {
    const destination = arp.operation === operations.request ? broadcastAddress : arp.targetHardware
    findings = observer.observe({ arp, source, destination, timeMs })
  }
  return findings
}
const kindsOf = (...packets: readonly Observed[]): string[] => findingsOf(...packets).map(({ kind }) => kind)

test('a question and its answer are in order', () => {
  assert.deepEqual(kindsOf([0, request(one, '10.0.0.1', '10.0.0.2')], [1, reply(two, '10.0.0.2')]), [])
  assert.deepEqual(kindsOf([0, request(one, '10.0.0.1', '10.0.0.1')]), [])
})

test('a host that answers in the name of another one spoofs', () => {
  const [finding] = findingsOf(
    [0, request(three, '10.0.0.3', '10.0.0.1')],
    [5, request(one, '10.0.0.1', '10.0.0.2')],
    [6, reply(two, '10.0.0.2')],
    [7, reply(three, '10.0.0.2')],
  )
  assert.deepEqual([finding?.kind, finding?.hardware], ['spoofed', [two, three]])
  assert.match(
    finding!.message,
    /^10\.0\.0\.3 at 12:07:6b:be:20:d2 answers in the name of 10\.0\.0\.2, which is at 76:/,
  )
})

test('the owner of an address that was spoofed is not reported', () => {
  const packets = [
    [0, request(three, '10.0.0.3', '10.0.0.2')],
    [1, reply(two, '10.0.0.2', three, '10.0.0.3')],
    [2, request(one, '10.0.0.1', '10.0.0.2')],
    [3, reply(three, '10.0.0.2')],
    [4, reply(two, '10.0.0.2')],
  ] as const
  assert.deepEqual(kindsOf(...packets.slice(0, 4)), ['spoofed'])
  assert.deepEqual(kindsOf(...packets), [])
})

test('a packet that names another sender than its frame is spoofed', () => {
  assert.deepEqual(kindsOf([0, request(one, '10.0.0.1', '10.0.0.2')], [1, reply(two, '10.0.0.2'), three]), ['spoofed'])
})

test('two answers to one request are two hosts with one address', () => {
  const [finding] = findingsOf(
    [0, request(one, '10.0.0.1', '10.0.0.2')],
    [1, reply(two, '10.0.0.2')],
    [3, reply(three, '10.0.0.2')],
  )
  assert.deepEqual([finding?.kind, finding?.hardware], ['duplicate', [two, three]])
})

test('an address that moves has changed; one that moves to and fro is a duplicate', () => {
  const packets = [
    [0, request(two, '10.0.0.2', '10.0.0.2')],
    [60_000, request(three, '10.0.0.2', '10.0.0.2')],
    [120_000, request(two, '10.0.0.2', '10.0.0.2')],
  ] as const
  assert.deepEqual(kindsOf(...packets.slice(0, 2)), ['changed'])
  assert.deepEqual(kindsOf(...packets), ['duplicate'])
})

test('a host that answers for others is a proxy, once for each address', () => {
  const packets = [
    [0, request(two, '10.0.0.2', '10.0.0.1')],
    [1, request(one, '10.0.0.1', '10.0.9.9')],
    [2, reply(two, '10.0.9.9')],
  ] as const
  const [finding] = findingsOf(...packets)
  assert.equal(finding?.kind, 'proxy')
  assert.match(finding!.message, /^10\.0\.0\.2 at 76:cb:15:06:92:87 answers for 10\.0\.9\.9: proxy ARP/)
  assert.deepEqual(kindsOf(...packets, [3, request(one, '10.0.0.1', '10.0.9.9')], [4, reply(two, '10.0.9.9')]), [])
})

test('an answer without a question is reported', () => {
  assert.deepEqual(kindsOf([0, reply(two, '10.0.0.2')]), ['unsolicited'])
  assert.deepEqual(kindsOf([0, request(one, '10.0.0.1', '10.0.0.2')], [1500, reply(two, '10.0.0.2')]), ['unsolicited'])
})

test('a probe for an address that a host has is reported, and names no owner', () => {
  assert.deepEqual(kindsOf([0, request(one, '10.0.0.1', '10.0.0.2')], [1, request(two, '0.0.0.0', '10.0.0.1')]), [
    'in use',
  ])
  assert.deepEqual(kindsOf([0, request(two, '0.0.0.0', '10.0.0.1')]), [])
})

test('bindings that are known beforehand count', () => {
  const observer = new ArpObserver()
  observer.learn('10.0.0.2', two, true, 0)
  const arp = request(three, '10.0.0.2', '10.0.0.2')
  const [finding] = observer.observe({ arp, source: three, destination: broadcastAddress, timeMs: 10_000 })
  assert.equal(finding?.kind, 'changed')
})

test('kinds follow from the operation, the addresses and the destination', () => {
  const kind = (arp: Ipv4Arp, destination = broadcastAddress): string => packetKind(arp, destination)
  assert.equal(kind(request(one, '10.0.0.1', '10.0.0.2')), 'request')
  assert.equal(kind(request(one, '10.0.0.1', '10.0.0.2'), two), 'unicast request')
  assert.equal(kind(request(one, '0.0.0.0', '10.0.0.2')), 'probe')
  assert.equal(kind(request(one, '10.0.0.1', '10.0.0.1')), 'announcement')
  assert.equal(kind(reply(two, '10.0.0.2'), one), 'reply')
  assert.equal(kind(reply(two, '10.0.0.2', two, '10.0.0.2'), one), 'gratuitous reply')
  const names = [3, 4, 8, 9, 10, 77].map((operation) => kind({ ...request(one, '10.0.0.1', '10.0.0.2'), operation }))
  assert.deepEqual(names, [
    'RARP request',
    'RARP reply',
    'InARP request',
    'InARP reply',
    'ARP NAK',
    'unknown operation',
  ])
  const unknown = { ...request(one, '10.0.0.1', '10.0.0.2'), operation: 77 }
  assert.equal(packetMeaning(unknown, 'unknown operation'), 'The operation 77 has no meaning for hosts.')
})
