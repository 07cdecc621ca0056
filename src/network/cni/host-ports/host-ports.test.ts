import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostPort } from '../attachment.ts'
import { findRulesProgram } from './find-rules-program.ts'
import { takenPort } from './host-port-rules.ts'
import { chainLines, chainNames, portRules } from './iptables/pod-chains.ts'
import { portCommands, tableCommands } from './nftables/pod-table.ts'

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
    /ip saddr \{ 10\.88\.0\.0\/24 } ip daddr != \{ 10\.88\.0\.0\/16, 224\.0\.0\.0\/4 } masq/,
  )
  assert.doesNotMatch(tableCommands({ ...options, notMasqueraded: undefined }), /daddr != /)
})

test('iptables has the same host ports, in chains whose names it accepts', () => {
  const names = chainNames('t8s_pods_a_rather_long_name')
  for (const name of Object.values(names)) assert.match(name, /^T8S-[A-Z]+-[0-9A-F]{8}$/)
  const { ports, mark } = names
  const pod = { addresses: ['10.88.0.5', 'fd00::5'], ports: [port(8080), port(8081, '127.0.0.1')] }
  assert.deepEqual(portRules('-A', names, pod, 4), [
    `-A ${ports} -p tcp -m tcp --dport 8080 -j ${mark}`,
    `-A ${ports} -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.88.0.5:80`,
    `-A ${ports} -d 127.0.0.1 -p tcp -m tcp --dport 8081 -j ${mark}`,
    `-A ${ports} -d 127.0.0.1 -p tcp -m tcp --dport 8081 -j DNAT --to-destination 10.88.0.5:80`,
  ])
  assert.deepEqual(portRules('-D', names, pod, 6), [
    `-D ${ports} -p tcp -m tcp --dport 8080 -j ${mark}`,
    `-D ${ports} -p tcp -m tcp --dport 8080 -j DNAT --to-destination [fd00::5]:80`,
  ])
  const options = { table: 'pods', bridge: 'cni0', ranges: ['10.88.0.0/24'], notMasqueraded: ['10.88.0.0/16'] }
  assert.match(
    chainLines(options, names, 4),
    /-d 10\.88\.0\.0\/16 -j RETURN\n.*-d 224\.0\.0\.0\/4 -j RETURN\n.*-s 10\.88\.0\.0\/24 -j MASQUERADE/,
  )
})

test('a machine without nft and iptables gets an error which names both packages', () => {
  assert.match(findRulesProgram('/nonexistent:').problem ?? '', /nft nor iptables.*apt-get install nftables.*iptables/)
})
