import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostPort } from '../attachment.ts'
import { takenPort } from './pod-ports.ts'
import { portCommands, tableCommands } from './pod-table.ts'

const port = (hostPort: number, hostIP?: string): HostPort => ({
  hostPort,
  containerPort: 80,
  protocol: 'tcp',
  ...(hostIP ? { hostIP } : {}),
})

test('a host port is taken if protocol, port and address overlap', () => {
  const cases: [HostPort, HostPort, boolean][] = [
    [port(80), port(80), true],
    [port(80), port(81), false],
    [port(80), { ...port(80), protocol: 'udp' }, false],
    [port(80, '127.0.0.1'), port(80), true],
    [port(80, '127.0.0.1'), port(80, '0.0.0.0'), true],
    [port(80, '127.0.0.1'), port(80, '10.0.0.1'), false],
  ]
  for (const [one, other, isTaken] of cases) assert.equal(takenPort([one], [other]) !== undefined, isTaken)
})

test('a host port opens on the addresses of the family of its host address', () => {
  const addresses = ['10.88.0.5', 'fd00::5']
  assert.deepEqual(portCommands('add', 'pods', { addresses, ports: [port(8080)] }), [
    'add element inet pods keys4 { tcp . 8080 }\n',
    'add element inet pods ports4 { tcp . 8080 : 10.88.0.5 . 80 }\n',
    'add element inet pods keys6 { tcp . 8080 }\n',
    'add element inet pods ports6 { tcp . 8080 : fd00::5 . 80 }\n',
  ])
  assert.deepEqual(portCommands('delete', 'pods', { addresses, ports: [port(8080, '127.0.0.1')] }), [
    'delete element inet pods address_keys4 { 127.0.0.1 . tcp . 8080 }\n',
    'delete element inet pods address_ports4 { 127.0.0.1 . tcp . 8080 : 10.88.0.5 . 80 }\n',
  ])
})

test('only packets that leave the networks of pods are masqueraded', () => {
  const options = { table: 'pods', bridge: 'cni0', ranges: ['10.88.0.0/24'], notMasqueraded: ['10.88.0.0/16'] }
  assert.match(
    tableCommands(options),
    /ip saddr \{ 10\.88\.0\.0\/24 } ip daddr != \{ 10\.88\.0\.0\/24, 10\.88\.0\.0\/16, 224\.0\.0\.0\/4 } masq/,
  )
  assert.doesNotMatch(tableCommands({ ...options, notMasqueraded: undefined }), /daddr != /)
})
