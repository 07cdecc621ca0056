/** The checks that run inside the virtual machine: the mode ipvs with pods as network namespaces, and ipvsadm. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import { createIptablesMode } from '../../../src/network/proxy/modes/iptables/iptables-mode.ts'
import { checkIpvs, mayHaveIpvsRules } from '../../../src/network/proxy/modes/ipvs/check-ipvs.ts'
import { createIpvsMode } from '../../../src/network/proxy/modes/ipvs/ipvs-mode.ts'
import type { IpvsSettings } from '../../../src/network/proxy/modes/mode-options.ts'
import { parseVirtualServers } from '../../../src/network/proxy/trace/virtual-servers/parse-table.ts'
import { clusterIPBehaviours } from '../../network/services/cluster-ip-behaviours.ts'
import { externalBehaviours } from '../../network/services/external-behaviours.ts'
import { createLab, type Lab, podNumbers } from '../../network/services/lab.ts'
import {
  affinityBehaviours,
  lastingBehaviours,
  refusalBehaviours,
  rollingBehaviours,
} from '../../network/services/lasting-behaviours.ts'
import { bothPods, type CreateMode, ServedNode } from '../../network/services/served-node.ts'

const { client: clientPod, first, second } = podNumbers

const modeWith =
  (ipvs?: IpvsSettings): CreateMode =>
  (options) =>
    createIpvsMode({ ...options, runProgram: runRulesProgram, ipvs })

const run = (program: string, ...args: readonly string[]): string => execFileSync(program, args, { encoding: 'utf8' })

const shown = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)

/** The lines of `ipvsadm --list` for a service and its servers. */
function listed(service: string): string[] {
  const lines = run('ipvsadm', '-Ln').split('\n')
  const start = lines.findIndex((line) => line.includes(service))
  if (start < 0) return []
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('  ->'))
  return lines.slice(start, end < 0 ? undefined : end).map((line) => line.trim().replaceAll(/\s+/g, ' '))
}

/** Linux does not end IPv6 connections by the ICMP errors that IPVS and REJECT send. */
const refused = ({ family }: ServedNode): string => (family === 4 ? 'ECONNREFUSED' : 'timeout')

/** Virtual servers, their servers, and rules with sets. */
function ownBehaviours(node: ServedNode): void {
  test('virtual servers, sets and the interface have what a Service needs', async () => {
    const address = node.clusterIP(40)
    const service = { name: 'shown', spec: { clusterIP: address, sessionAffinity: 'ClientIP' } }
    await node.sync({ ...service, endpoints: bothPods })
    const [line = '', ...servers] = listed(shown(address, 80))
    assert.equal(line, `TCP ${shown(address, 80)} rr persistent 10800`)
    assert.deepEqual(
      servers.map((server) => server.split(' ').slice(1, 4).join(' ')).sort(),
      [first, second].map((pod) => `${shown(node.seenAs(pod), 8080)} Masq 1`),
    )
    // `t8s trace service` reads this.
    const traced = parseVirtualServers(readFileSync('/proc/net/ip_vs', 'utf8')).find((each) => each.address === address)
    assert.deepEqual([traced?.isPersistent, traced?.servers.length], [true, 2])
    const set = node.family === 4 ? 'KUBE-CLUSTER-IP' : 'KUBE-6-CLUSTER-IP'
    assert.match(run('ipset', 'list', set), new RegExp(`^${address},tcp:80$`, 'm'))
    assert.match(run('ip', 'addr', 'show', 'kube-ipvs0'), new RegExp(` ${address}/(32|128) `))
    await node.delete('shown')
    assert.deepEqual(listed(shown(address, 80)), [])
    assert.doesNotMatch(run('ipset', 'list', set), new RegExp(`^${address},`, 'm'))
    assert.doesNotMatch(run('ip', 'addr', 'show', 'kube-ipvs0'), new RegExp(` ${address}/`))
  })

  test('a server that leaves gets no new connections while it has open ones', async () => {
    const service = { name: 'leaving', spec: { clusterIP: node.clusterIP(45) } }
    const weight = (pod: number): string | undefined => {
      const line = listed(shown(node.clusterIP(45), 80)).find((each) => each.includes(shown(node.seenAs(pod), 8080)))
      return line?.split(' ')[3]
    }
    await node.sync({ ...service, endpoints: [{ pod: first }] })
    assert.match(await node.pod(clientPod).tcp(node.clusterIP(45), 80, `left-${node.family}`), /^pod-3/)
    await node.sync({ ...service, endpoints: [{ pod: second }] })
    assert.equal(weight(first), '0')
    assert.match(await node.pod(clientPod).tcp(node.clusterIP(45), 80, `left-${node.family}`), /^pod-3/)
    assert.deepEqual(await node.names(node.pod(clientPod), node.clusterIP(45), 80, 4), ['pod-4'])
    await node.sync({ ...service, endpoints: bothPods })
    assert.equal(weight(first), '1')
    await node.delete('leaving')
  })

  test('the node itself is excluded by source ranges of a load balancer', async () => {
    const address = node.externalIP(46)
    const loadBalancerSourceRanges = node.family === 4 ? ['203.0.113.0/24'] : ['2001:db8:2::/64']
    const spec = { type: 'LoadBalancer', clusterIP: node.clusterIP(46), loadBalancerSourceRanges }
    await node.sync({ name: 'blocked', loadBalancerIP: address, spec, endpoints: [{ pod: first }] })
    assert.equal(await node.host.tcp(address, 80), 'timeout')
    const open = { ...spec, loadBalancerSourceRanges: [node.family === 4 ? '0.0.0.0/0' : '::/0'] }
    await node.sync({ name: 'blocked', loadBalancerIP: address, spec: open, endpoints: [{ pod: first }] })
    assert.match(await node.host.tcp(address, 80), /^pod-3/)
  })
}

/** The node's own servers, and changes by others. */
function nodeBehaviours(node: ServedNode): void {
  test('ports of the node itself are not reachable by the addresses of Services', async () => {
    const address = node.clusterIP(41)
    await node.sync({ name: 'one-port', spec: { clusterIP: address }, endpoints: [{ pod: first }] })
    assert.match(await node.host.tcp(node.address, 8080), /^node/)
    for (const peer of [node.pod(clientPod), node.client]) assert.equal(await peer.tcp(address, 8080), refused(node))
  })

  test('with the policy Local, a node without endpoints uses those of other nodes', async () => {
    const address = node.clusterIP(42)
    const ports = [{ name: 'http', port: 80, nodePort: 30090, protocol: 'TCP' as const }]
    const spec = { type: 'NodePort', clusterIP: address, externalTrafficPolicy: 'Local', ports }
    await node.sync({ name: 'local', spec, endpoints: [{ pod: first }, { pod: second, isElsewhere: true }] })
    const answers = await node.client.all({ protocol: 'tcp', address: node.address, port: 30090, count: 4 })
    assert.deepEqual([...new Set(answers)], [`pod-3 ${node.clientAddress}`])
    await node.sync({ name: 'local', spec, endpoints: [{ pod: second, isElsewhere: true }] })
    assert.deepEqual(await node.names(node.pod(clientPod), node.address, 30090, 2), ['pod-4'])
    const internal = { clusterIP: node.clusterIP(43), internalTrafficPolicy: 'Local' }
    await node.sync({ name: 'internal', spec: internal, endpoints: [{ pod: second, isElsewhere: true }] })
    assert.equal(await node.pod(clientPod).tcp(node.clusterIP(43), 80), refused(node))
  })

  test('what others remove is found missing, and restored', async () => {
    const address = node.clusterIP(44)
    await node.sync({ name: 'flushed', spec: { clusterIP: address }, endpoints: [{ pod: first }] })
    const tables = node.family === 4 ? 'iptables-nft' : 'ip6tables-nft'
    for (const command of ['ipvsadm -C', 'ip link delete kube-ipvs0', `${tables} -t nat -F`]) {
      assert.equal(await node.wasFlushed(), false)
      const [program = '', ...args] = command.split(' ')
      run(program, ...args)
      if (program === tables) run(tables, '-t', 'nat', '-X')
      assert.equal(await node.wasFlushed(), true)
      await node.syncAll()
      assert.match(await node.pod(clientPod).tcp(address, 80), /^pod-3/)
    }
  })
}

function settingsBehaviours(lab: Lab): void {
  test('schedulers and timeouts are those of the settings, and virtual servers of excluded ranges remain', async () => {
    run('ipvsadm', '-A', '-t', '203.0.113.7:80', '-s', 'wlc')
    run('ipvsadm', '-A', '-t', '203.0.114.7:80', '-s', 'wlc')
    const timeouts = { tcp: 800, tcpFin: 60, udp: 200 }
    const settings = { scheduler: 'lc', excludedCidrs: ['203.0.113.0/24'], strictArp: true, timeouts }
    const node = new ServedNode(lab, 4, modeWith(settings))
    node.set({ name: 'web', spec: { clusterIP: node.clusterIP(50) }, endpoints: bothPods })
    await node.syncAll()
    assert.equal(listed(`${node.clusterIP(50)}:80`)[0], `TCP ${node.clusterIP(50)}:80 lc`)
    assert.deepEqual(await node.names(node.pod(clientPod), node.clusterIP(50), 80), ['pod-3', 'pod-4'])
    assert.match(run('ipvsadm', '-L', '--timeout'), /800 60 200/)
    assert.equal(readFileSync('/proc/sys/net/ipv4/conf/all/arp_ignore', 'utf8').trim(), '1')
    assert.equal(listed('203.0.113.7:80').length, 1)
    assert.equal(listed('203.0.114.7:80').length, 0)
    await node.cleanUp()
    assert.equal(listed('203.0.113.7:80').length, 1)
    run('ipvsadm', '-C')
  })

  test('the first sync removes the rules of the mode iptables, and keeps foreign ones', async () => {
    run('iptables-nft', '-A', 'INPUT', '-s', '203.0.113.9', '-j', 'DROP')
    const node = new ServedNode(lab, 4, (options) => createIptablesMode({ ...options, runProgram: runRulesProgram }))
    const address = node.clusterIP(52)
    node.set({ name: 'web', spec: { clusterIP: address }, endpoints: bothPods })
    await node.syncAll()
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), ['pod-3', 'pod-4'])
    await node.restart(modeWith())
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), ['pod-3', 'pod-4'])
    const rules = run('iptables-nft-save')
    assert.doesNotMatch(rules, /KUBE-SVC|KUBE-SEP|KUBE-NODEPORTS|KUBE-EXTERNAL-SERVICES/)
    await node.restart(modeWith())
    const counts = / \[\d+:\d+\]|^#.*$/gm
    assert.equal(run('iptables-nft-save').replaceAll(counts, ''), rules.replaceAll(counts, ''))
    await node.cleanUp()
    assert.match(run('iptables-nft-save'), /-A INPUT -s 203\.0\.113\.9\/32 -j DROP/)
  })

  test('a scheduler that the kernel lacks is an error that names its module', async () => {
    const timeouts = { tcp: 0, tcpFin: 0, udp: 0 }
    const node = new ServedNode(lab, 4, modeWith({ scheduler: 'best', excludedCidrs: [], strictArp: false, timeouts }))
    node.set({ name: 'web', spec: { clusterIP: node.clusterIP(51) }, endpoints: bothPods })
    await assert.rejects(node.syncAll(), /no IPVS scheduler best: load it by `modprobe ip_vs_best`/)
    await node.cleanUp()
  })
}

describe('the mode ipvs', () => {
  test('loads its module', async () => {
    assert.equal(mayHaveIpvsRules(), false)
    await checkIpvs(runRulesProgram)
    assert.equal(mayHaveIpvsRules(), true)
  })
})

// Packets between pods at one bridge pass the rules.
run('modprobe', 'br_netfilter')
const lab = await createLab()
// The machine is slow.
process.env.T8S_TEST_REQUESTS = '200'
after(() => lab.stop())
for (const family of [4, 6] as const)
  describe(`with IPv${family}`, () => {
    const node = new ServedNode(lab, family, modeWith())
    before(() => node.syncAll())
    clusterIPBehaviours(node)
    externalBehaviours(node)
    // The machine is slow, and these do not depend on the family.
    if (family === 4)
      for (const define of [refusalBehaviours, affinityBehaviours, lastingBehaviours, rollingBehaviours]) define(node)
    ownBehaviours(node)
    nodeBehaviours(node)
    test('a clean-up leaves nothing', async () => {
      await node.cleanUp()
      assert.equal(existsSync('/sys/class/net/kube-ipvs0'), false)
      assert.equal(run('ipset', 'list', '-n'), '')
      assert.equal(run('ipvsadm', '-Sn'), '')
      for (const program of ['iptables-nft-save', 'ip6tables-nft-save']) assert.doesNotMatch(run(program), /KUBE/)
    })
  })
describe('settings', () => settingsBehaviours(lab))
