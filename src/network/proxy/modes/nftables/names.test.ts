import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Endpoint } from '../../picture/endpoint.ts'
import { endpointName, portName } from './names.ts'

const endpoint = (address: string, port: number): Endpoint => ({
  address,
  port,
  isLocal: false,
  isReady: true,
  isServing: true,
  isTerminating: false,
  zones: [],
  nodes: [],
})
const web = { namespace: 'ns1', service: 'svc1', name: 'p80', protocol: 'TCP' } as const

describe('names of chains', () => {
  test('begin with the hash that upstream gives them', () => {
    assert.equal(portName(web), 'ULMVA6XW-ns1/svc1/tcp/p80')
    assert.equal(endpointName(web, endpoint('10.180.0.1', 80)), '5OJB2KTY-ns1/svc1/tcp/p80__10.180.0.1/80')
    const kubernetes = { namespace: 'default', service: 'kubernetes', name: 'https', protocol: 'TCP' } as const
    assert.equal(portName(kubernetes), '2QRHZV4L-default/kubernetes/tcp/https')
  })

  test('have dots in place of the colons of IPv6', () => {
    assert.equal(endpointName(web, endpoint('fd00:10:180::1', 80)), 'ZVRFLKHO-ns1/svc1/tcp/p80__fd00.10.180..1/80')
  })

  test('are cut to the length that nft accepts, and remain different', () => {
    const [namespace, service, name] = ['n', 's', 'p'].map((letter) => letter.repeat(63))
    const port = { namespace: namespace!, service: service!, name: name!, protocol: 'SCTP' } as const
    const names = ['fd00:1111:2222:3333:4444:5555:6666:7777', 'fd00:1111:2222:3333:4444:5555:6666:7778'].map(
      (address) => endpointName(port, endpoint(address, 65535)),
    )
    for (const found of names) {
      assert.equal(found.length, 240)
      assert.ok(found.endsWith('...'))
    }
    assert.notEqual(names[0], names[1])
  })
})
