/** The iptables mode of kube-proxy with real connections, in both variants of iptables. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import type { IptablesVariant } from '../../../src/network/iptables/iptables-programs.ts'
import { createIptablesMode } from '../../../src/network/proxy/modes/iptables/iptables-mode.ts'
import type { ModeOptions } from '../../../src/network/proxy/modes/mode-options.ts'

import type { ProxyMode } from '../../../src/network/proxy/modes/proxy-mode.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { bridgeAddress, NodeLab, nodeAddress, outsideAddress, podRange } from './node-lab.ts'
import { nodeName, ProxiedServices, type ServiceSpec } from './proxied-services.ts'

const [first, second] = ['172.17.0.4', '172.17.0.5']
const clusterIP = '10.96.0.7'
const nodePort = 30_080
const balancer = '192.0.2.9'
const http = { name: 'http', port: 80, protocol: 'TCP' }

const options: ModeOptions = {
  ...{ family: 4, node: nodeName, nodeAddress, masqueradeAll: false, masqueradeBit: 14, localhostNodePorts: true },
  ...{ servedInterfaces: undefined, instance: undefined, log: () => {}, now: Date.now },
  nodePortAddresses: () => ({ isAll: true, addresses: [nodeAddress] }),
  localTraffic: { kind: 'cidrs', cidrs: [podRange] },
  runProgram: runRulesProgram,
}

/** One variant of iptables on the node. */
class ProxyUnderTest {
  readonly variant: IptablesVariant
  readonly mode: ProxyMode
  readonly services: ProxiedServices = new ProxiedServices()

  constructor(variant: IptablesVariant) {
    this.variant = variant
    this.mode = createIptablesMode(options, variant)
  }

  /** Sets the Service `nginx` in a sync of what changed. */
  async set(spec: ServiceSpec | undefined): Promise<void> {
    this.services.set('nginx', spec)
    await this.services.sync(this.mode)
  }

  /** Brings all into effect. */
  syncAll(mode: ProxyMode = this.mode): Promise<void> {
    return mode.sync(this.services.services.picture, 'all')
  }

  /** The output of `iptables-save` without counters and times. */
  save(): string {
    const saved = execFileSync(`iptables-${this.variant}-save`, { encoding: 'utf8' })
    return saved.replaceAll(/ \[\d+:\d+\]|^#.*\n/gm, '')
  }
}

function testVariant(lab: NodeLab, variant: IptablesVariant): void {
  const proxy = new ProxyUnderTest(variant)
  after(() => proxy.mode.cleanUp())
  testConnections(lab, proxy)
  testPolicies(lab, proxy)
  testChanges(lab, proxy)
}

function testConnections(lab: NodeLab, proxy: ProxyUnderTest): void {
  test('balances connections to a cluster IP, and masquerades those from elsewhere', async () => {
    await proxy.set({ spec: { clusterIP }, pods: [first, second] })
    const answers = lab.connect('one', clusterIP, 80, 30)
    // A connection to itself comes from the node, one to the other pod from the pod itself.
    assert.deepEqual([...new Set(answers)].sort(), [`one ${bridgeAddress}`, `two ${first}`])
    assert.match(lab.connect('outside', clusterIP, 80).join(), new RegExp(`^(one|two) ${bridgeAddress}$`))
    assert.match(lab.connect('node', clusterIP, 80).join(), /^(one|two) /)
  })

  test('has the documented lines', async () => {
    await proxy.set({ spec: { clusterIP }, pods: [first] })
    const lines = proxy.save().split('\n')
    const svc = 'KUBE-SVC-P4Q3KNUAWJVP4ILH'
    const match = `-d ${clusterIP}/32 -p tcp -m comment --comment "default/nginx:http cluster IP" -m tcp --dport 80`
    for (const line of [
      '-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
      `-A KUBE-SERVICES ${match} -j ${svc}`,
      `-A ${svc} ! -s ${podRange} ${match} -j KUBE-MARK-MASQ`,
      '-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
      '-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP',
    ])
      assert(lines.includes(line), `${line}\n${lines.join('\n')}`)
    assert.match(lines.filter((line) => line.startsWith('-A KUBE-SERVICES')).at(-1)!, /this must be the last rule/)
  })

  test('serves a node port from outside, from pods, and on localhost', async () => {
    await proxy.set({ spec: { type: 'NodePort', clusterIP, ports: [{ ...http, nodePort }] }, pods: [first, second] })
    assert.match(lab.connect('outside', nodeAddress, nodePort).join(), new RegExp(`^(one|two) ${bridgeAddress}$`))
    assert.match(lab.connect('one', nodeAddress, nodePort).join(), /^(one|two) /)
    assert.match(lab.connect('node', '127.0.0.1', nodePort).join(), /^(one|two) /)
    assert.equal(readFileSync('/proc/sys/net/ipv4/conf/all/route_localnet', 'utf8').trim(), '1')
  })
}

function testPolicies(lab: NodeLab, proxy: ProxyUnderTest): void {
  test('keeps the source with the policy Local, and drops without local endpoints', async () => {
    const spec = { type: 'NodePort', clusterIP, externalTrafficPolicy: 'Local', ports: [{ ...http, nodePort }] }
    await proxy.set({ spec, pods: [first] })
    assert.deepEqual(lab.connect('outside', nodeAddress, nodePort), [`one ${outsideAddress}`])
    await proxy.set({ spec, remotePods: [first] })
    assert.deepEqual(lab.connect('outside', nodeAddress, nodePort, 1, 300), ['TIMEOUT'])
    // Pods and the node use endpoints of all nodes.
    assert.match(lab.connect('two', nodeAddress, nodePort).join(), /^one /)
    assert.match(lab.connect('node', nodeAddress, nodePort).join(), /^one /)
    await proxy.set({ spec: { clusterIP, internalTrafficPolicy: 'Local' }, remotePods: [first] })
    assert.deepEqual(lab.connect('two', clusterIP, 80, 1, 300), ['TIMEOUT'])
  })

  test('rejects connections immediately if there are no endpoints', async () => {
    await proxy.set({ spec: { type: 'NodePort', clusterIP, ports: [{ ...http, nodePort }] } })
    for (const from of ['one', 'outside', 'node'])
      assert.deepEqual(lab.connect(from, clusterIP, 80), ['ECONNREFUSED'], from)
    assert.deepEqual(lab.connect('outside', nodeAddress, nodePort), ['ECONNREFUSED'])
  })

  test('sends a client to the same endpoint with affinity, also after a full sync', async () => {
    await proxy.set({ spec: { clusterIP, sessionAffinity: 'ClientIP' }, pods: [first, second] })
    const before = lab.connect('outside', clusterIP, 80, 10)
    await proxy.syncAll()
    assert.equal(new Set([...before, ...lab.connect('outside', clusterIP, 80, 10)]).size, 1)
    // The endpoint of the client leaves.
    await proxy.set({
      spec: { clusterIP, sessionAffinity: 'ClientIP' },
      pods: [before[0]!.startsWith('one') ? second : first],
    })
    assert.match(lab.connect('outside', clusterIP, 80).join(), before[0]!.startsWith('one') ? /^two / : /^one /)
  })

  test('serves external IPs, and addresses of load balancers to their source ranges', async () => {
    const spec = { type: 'LoadBalancer', clusterIP, externalIPs: ['192.0.2.7'] }
    const status = { loadBalancer: { ingress: [{ ip: balancer }] } }
    await proxy.set({ spec: { ...spec, loadBalancerSourceRanges: ['192.168.50.0/24'] }, status, pods: [first] })
    assert.deepEqual(lab.connect('outside', balancer, 80), [`one ${bridgeAddress}`])
    assert.deepEqual(lab.connect('outside', '192.0.2.7', 80), [`one ${bridgeAddress}`])
    await proxy.set({ spec: { ...spec, loadBalancerSourceRanges: ['198.51.100.0/24'] }, status, pods: [first] })
    assert.deepEqual(lab.connect('outside', balancer, 80, 1, 300), ['TIMEOUT'])
  })
}

function testChanges(lab: NodeLab, proxy: ProxyUnderTest): void {
  test('has the same rules after changes as after a full sync', async () => {
    const text = (): string[] => proxy.save().split('\n').sort()
    proxy.services.set('other', {
      spec: { type: 'NodePort', clusterIP: '10.96.0.8', ports: [{ ...http, nodePort: 30_081 }] },
    })
    await proxy.set({ spec: { clusterIP }, pods: [first, second] })
    proxy.services.set('other', { spec: { clusterIP: '10.96.0.9' }, pods: [second] })
    await proxy.set(undefined)
    await proxy.set({ spec: { clusterIP }, pods: [second] })
    const changed = text()
    await proxy.syncAll()
    assert.deepEqual(changed, text())
  })

  test('a new proxy keeps open connections, and finds the rules of the old one', async () => {
    await proxy.set({ spec: { clusterIP }, pods: [first] })
    const socket = connect({ host: clusterIP, port: 80 })
    const received = chunks(socket)
    await received.next()
    const rules = proxy.save()
    await proxy.mode.stop()
    await proxy.syncAll(createIptablesMode(options, proxy.variant))
    assert.equal(proxy.save(), rules)
    socket.write('still here')
    assert.equal((await received.next()).value, 'still here')
    socket.destroy()
  })

  test('finds out that rules were flushed, and leaves rules of others alone', async () => {
    const iptables = (...args: readonly string[]): string =>
      execFileSync(`iptables-${proxy.variant}`, args, { encoding: 'utf8' })
    assert.equal(await proxy.mode.wasFlushed?.(), false)
    iptables('-t', 'nat', '-F')
    iptables('-t', 'nat', '-X')
    iptables('-N', 'OTHER')
    iptables('-A', 'INPUT', '-j', 'OTHER')
    assert.equal(await proxy.mode.wasFlushed?.(), true)
    await proxy.syncAll()
    assert.match(lab.connect('two', clusterIP, 80).join(), /^one /)
    await proxy.mode.cleanUp()
    const left = proxy
      .save()
      .split('\n')
      .filter((line) => /^-A|^:[A-Z-]+ -/.test(line))
    assert.deepEqual(
      left.filter((line) => /KUBE/.test(line) && !/KUBE-FIREWALL/.test(line)),
      [],
    )
    assert.deepEqual(left.filter((line) => /OTHER/.test(line)).length, 2)
    iptables('-D', 'INPUT', '-j', 'OTHER')
  })
}

async function* chunks(socket: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const chunk of socket) yield chunk.toString()
}

await inNamespaces(import.meta.filename, () => {
  const lab = new NodeLab()
  before(async () => {
    await lab.addPod('one', first)
    await lab.addPod('two', second)
  })
  after(() => lab.stop())
  for (const variant of ['nft', 'legacy'] as const) describe(`iptables-${variant}`, () => testVariant(lab, variant))
})
