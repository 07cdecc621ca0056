import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anEndpoint } from '../../modes/iptables/rules/proxied-port.fixture.ts'
import { explainVirtualServer } from './explain-virtual-server.ts'
import { parseVirtualServers } from './parse-table.ts'

const table = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
TCP  0A600007:0050 rr persistent 2700000 FFFFFFFF
  -> 0AF40003:1F90      Masq    1      2          0         
  -> 0AF40009:1F90      Masq    0      1          0         
FWM  00000007 rr 
  -> 0AF40003:1F90      Masq    1      0          0         
UDP  [fd00:0096:0000:0000:0000:0000:0000:000a]:0035 lc 
  -> [fd00:0244:0000:0000:0000:0000:0000:0003]:0035      Masq    1      0          3         
`

test('the table of the kernel is read', () => {
  const [first, second, ...more] = parseVirtualServers(table)
  assert.deepEqual(more, [])
  assert.deepEqual(first, {
    ...{ protocol: 'tcp', address: '10.96.0.7', port: 80, scheduler: 'rr', isPersistent: true },
    servers: [
      { address: '10.244.0.3', port: 8080, forwarding: 'Masq', weight: 1, active: 2, inactive: 0 },
      { address: '10.244.0.9', port: 8080, forwarding: 'Masq', weight: 0, active: 1, inactive: 0 },
    ],
  })
  assert.deepEqual(second, {
    ...{ protocol: 'udp', address: 'fd00:96::a', port: 53, scheduler: 'lc', isPersistent: false },
    servers: [{ address: 'fd00:244::3', port: 53, forwarding: 'Masq', weight: 1, active: 0, inactive: 3 }],
  })
  assert.deepEqual(parseVirtualServers(''), [])
})

test('servers, their shares, and differences to the API server are explained', () => {
  const [virtual] = parseVirtualServers(table)
  const podOf = (address: string): string | undefined => (address === '10.244.0.3' ? 'web-1' : undefined)
  const options = { isNodePort: false, podOf, expected: [anEndpoint('10.244.0.3', 8080)] }
  const { lines, isReachable } = explainVirtualServer(virtual!, options)
  assert.equal(isReachable, true)
  assert.deepEqual(lines.slice(0, 8), [
    'IPVS:',
    '  the virtual server tcp 10.96.0.7:80 chooses by the scheduler rr; clients stay with a server by affinity',
    '    10.244.0.3:8080 (pod web-1): weight 1  [connections: 2 open, 0 after their end]',
    '    10.244.0.9:8080: weight 0, which gets no new connections  [connections: 1 open, 0 after their end]',
    '',
    'Result:',
    '  100 % reaches 10.244.0.3:8080 (pod web-1)',
    '',
  ])
  assert.equal(lines[8], 'The rules agree with the API server: 1 endpoint.')
  const stale = explainVirtualServer(virtual!, { ...options, expected: [anEndpoint('10.244.0.4', 8080)] })
  assert.equal(stale.isReachable, false)
  assert.ok(stale.lines.includes('  only in the API server: 10.244.0.4:8080'))
})

test('a virtual server without servers rejects connections', () => {
  const [virtual] = parseVirtualServers(table)
  const { lines, isReachable } = explainVirtualServer(
    { ...virtual!, servers: [] },
    { isNodePort: false, podOf: () => undefined, expected: [] },
  )
  assert.equal(isReachable, false)
  assert.ok(lines.includes('  100 % rejected by IPVS: no server gets new connections'))
})
