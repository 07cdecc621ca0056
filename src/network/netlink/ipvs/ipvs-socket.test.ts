import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { genericBody } from '../generic-family.ts'
import { attribute, encodeMessage, uint16, uint32 } from '../message.ts'
import { IpvsSocket } from './ipvs-socket.ts'
import { decodeServer, decodeService, encodeServer, encodeService, type VirtualService } from './virtual-service.ts'

const family = 27
const acknowledged = Buffer.alloc(20)

const web: VirtualService = {
  ...{ protocol: 'TCP', address: '10.96.0.7', port: 80, scheduler: 'rr' },
  persistenceSeconds: undefined,
  hashesPorts: false,
}

/** System calls of a socket that answers each message with the bodies that `respond` returns, and an end. */
function answering(respond: (type: number, body: Buffer) => readonly Buffer[] | number): {
  readonly calls: SystemCalls
  readonly sent: { readonly type: number; readonly command: number; readonly hex: string }[]
} {
  const sent: { type: number; command: number; hex: string }[] = []
  let answer = Buffer.alloc(0)
  const send = (_fd: number, bytes: Uint8Array): number => {
    const message = Buffer.from(bytes)
    const [type, flags, sequence] = [message.readUInt16LE(4), message.readUInt16LE(6), message.readUInt32LE(8)]
    const body = message.subarray(16)
    sent.push({ type, command: body[0]!, hex: body.subarray(4).toString('hex') })
    const found = type === 16 ? [genericBody(1, 1, [uint16(1, family)])] : respond(type, body)
    const end = Buffer.from(acknowledged)
    if (typeof found === 'number') end.writeInt32LE(-found, 0)
    const bodies = typeof found === 'number' ? [] : found
    const isDump = (flags & 0x300) !== 0
    answer = Buffer.concat([
      ...bodies.map((each) => encodeMessage(family, 0, sequence, each)),
      encodeMessage(isDump && typeof found !== 'number' ? 3 : 2, 0, sequence, end),
    ])
    return message.length
  }
  const calls: SystemCalls = {
    ...{ socket: () => 3, connect: () => 0, setSocketOption: () => 0, close: () => 0 },
    ...{ setNamespace: () => 0, tryLock: () => 0, send },
    receive: (_fd, buffer) => {
      buffer.set(answer)
      return answer.length
    },
  }
  return { calls, sent }
}

test('a virtual service is the bytes of linux/ip_vs.h', () => {
  const parts = [
    '06000100' + '02000000', // IPv4
    '06000200' + '06000000', // TCP
    `140003000a600007${'00'.repeat(12)}`,
    '06000400' + '00500000', // the port in network order
    '07000600' + '72720000', // rr
    '0c000700' + '00000000' + '3d000000', // flags and their mask
    '08000800' + '00000000',
    '08000900' + 'ffffffff',
  ].join('')
  const size = (parts.length / 2 + 4).toString(16)
  assert.equal(encodeService(1, web).toString('hex'), `${size}000180${parts}`)
})

test('virtual services and servers are decoded as they were encoded', () => {
  const services: readonly VirtualService[] = [
    web,
    { ...web, protocol: 'UDP', address: 'fd00:96::7', persistenceSeconds: 10_800 },
    { ...web, protocol: 'SCTP', scheduler: 'mh', hashesPorts: true },
  ]
  for (const service of services) assert.deepEqual(decodeService(encodeService(1, service).subarray(4)), service)
  for (const address of ['10.244.0.7', 'fd00::7']) {
    const encoded = encodeServer(2, { address, port: 8080, weight: 1 }).subarray(4)
    assert.deepEqual(decodeServer(encoded, 2), { address, port: 8080, weight: 1, connections: 0 })
  }
  // Those of other programs that marks of packets select.
  assert.equal(decodeService(Buffer.concat([uint16(1, 2), uint32(5, 7)])), undefined)
})

test('connections of a server are the active and the inactive ones', () => {
  const address = attribute(1, Buffer.from('0af40007000000000000000000000000', 'hex'))
  const body = Buffer.concat([address, attribute(2, Buffer.from([0, 80])), uint32(4, 0), uint32(7, 2), uint32(8, 3)])
  assert.deepEqual(decodeServer(body, 2), { address: '10.244.0.7', port: 80, weight: 0, connections: 5 })
})

test('commands go to the family that the kernel names', () => {
  const servers = [genericBody(8, 1, [encodeServer(2, { address: '10.244.0.7', port: 80, weight: 1 })])]
  const { calls, sent } = answering((_, body) => (body[0] === 8 ? servers : []))
  const ipvs = IpvsSocket.open(calls)
  ipvs.addService(web)
  assert.deepEqual(ipvs.servers(web), [{ address: '10.244.0.7', port: 80, weight: 1, connections: 0 }])
  ipvs.removeServer(web, { address: '10.244.0.7', port: 80 })
  ipvs.setTimeouts({ tcp: 800, tcpFin: 60, udp: 200 })
  assert.deepEqual(
    sent.map(({ type, command }) => [type, command]),
    [
      [16, 3],
      [family, 1],
      [family, 8],
      [family, 7],
      [family, 12],
    ],
  )
  assert.equal(sent.at(-1)!.hex, '0800040020030000' + '080005003c000000' + '08000600c8000000')
})

test('services that do not exist have no servers, and need no removal', () => {
  const missing = 3
  const { calls } = answering(() => missing)
  const ipvs = IpvsSocket.open(calls)
  assert.equal(ipvs.service(web), undefined)
  assert.deepEqual(ipvs.servers(web), [])
  ipvs.removeService(web)
  assert.throws(
    () => ipvs.addService(web),
    /add the virtual service TCP 10\.96\.0\.7:80 with the scheduler rr: .*ESRCH/,
  )
})
