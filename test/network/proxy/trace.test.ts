/** `t8s trace service` with the rules of each mode of kube-proxy, beside real connections. Needs root. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Client, connectTo } from '../../../src/client/connection/connect-to.ts'
import { endpointSlices, nodes, services } from '../../../src/client/kinds.ts'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import { createIptablesMode } from '../../../src/network/proxy/modes/iptables/iptables-mode.ts'
import type { ModeOptions } from '../../../src/network/proxy/modes/mode-options.ts'
import { createNftablesMode } from '../../../src/network/proxy/modes/nftables/nftables-mode.ts'
import type { ProxyMode } from '../../../src/network/proxy/modes/proxy-mode.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { bridgeAddress, NodeLab, nodeAddress, podPort, podRange } from './node-lab.ts'
import { nodeName, ProxiedServices } from './proxied-services.ts'

const launcher = join(import.meta.dirname, '../../../t8s')
const [first, second] = ['172.17.0.4', '172.17.0.5']
const clusterIP = '10.0.0.7'
const nodePort = 30_080
const ports = [{ name: 'http', port: 80, protocol: 'TCP', nodePort }]
const half = new RegExp(`50 % reaches ${first}:${podPort}, which sees an address of this node`)
const oneOfTwo = new RegExp(`^(one|two) ${bridgeAddress}$`)

const options: ModeOptions = {
  ...{ family: 4, node: nodeName, nodeAddress, masqueradeAll: false, masqueradeBit: 14, localhostNodePorts: false },
  ...{ servedInterfaces: undefined, instance: undefined, log: () => {}, now: Date.now },
  nodePortAddresses: () => ({ isAll: true, addresses: [nodeAddress] }),
  localTraffic: { kind: 'cidrs', cidrs: [podRange] },
  runProgram: runRulesProgram,
}

class TracedNode {
  readonly lab: NodeLab = new NodeLab()
  readonly services: ProxiedServices = new ProxiedServices()
  readonly #client: Client
  readonly #kubeconfig: string

  constructor(client: Client, kubeconfig: string) {
    this.#client = client
    this.#kubeconfig = kubeconfig
    this.services.set('nginx', { spec: { type: 'NodePort', clusterIP, ports }, pods: [first, second] })
    this.services.services.update()
  }

  async start(): Promise<void> {
    await this.lab.addPod('one', first)
    await this.lab.addPod('two', second)
    const client = this.#client
    const status = { addresses: [{ type: 'InternalIP', address: nodeAddress }] }
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName }, status })
    const spec = { type: 'NodePort', clusterIP, ports }
    const metadata = { namespace: 'default', name: 'nginx' }
    await client.create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec })
    await client.create(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'nginx' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: podPort, protocol: 'TCP' }],
      endpoints: [first, second].map((address) => ({ addresses: [address], nodeName })),
    })
  }

  /** Runs `t8s trace service nginx`. */
  trace(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
    const env = { ...process.env, KUBECONFIG: this.#kubeconfig }
    return new Promise((resolve) => {
      execFile(launcher, ['trace', 'service', 'nginx', ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
      )
    })
  }

  /** Sets the endpoints in the API server only. */
  async setEndpoints(...addresses: readonly string[]): Promise<void> {
    const client = this.#client
    const slice = await client.get(endpointSlices, 'default', 'nginx')
    const endpoints = addresses.map((address) => ({ addresses: [address], nodeName }))
    await client.update(endpointSlices, { ...slice, endpoints })
  }
}

await inNamespaces(import.meta.filename, async () => {
  const cluster = await testCluster({ after }, { controllers: [] })
  const client = await connectTo({ access: cluster.client })
  after(() => client.close())
  const traced = new TracedNode(client, cluster.kubeconfigFile)
  before(() => traced.start())
  after(() => traced.lab.stop())
  const modes = {
    'iptables (nft)': () => createIptablesMode(options, 'nft'),
    'iptables (legacy)': () => createIptablesMode(options, 'legacy'),
    nftables: () => createNftablesMode(options),
  }
  for (const [name, create] of Object.entries(modes)) describe(name, () => testMode(traced, name, create()))
})

function testMode(traced: TracedNode, name: string, mode: ProxyMode): void {
  before(() => mode.sync(traced.services.services.picture, 'all'))
  after(() => mode.cleanUp())

  test('a trace shows the endpoints and the source that real connections have', async () => {
    const { code, output } = await traced.trace('--from', 'outside')
    assert.equal(code, 0, output)
    assert.match(output, half)
    assert(output.includes(`\n${name} `), output)
    const answers = new Set(traced.lab.connect('outside', clusterIP, 80, 20))
    assert.deepEqual([...answers].sort(), [`one ${bridgeAddress}`, `two ${bridgeAddress}`])
    const fromPod = await traced.trace('--from', second)
    assert(fromPod.output.includes(`50 % reaches ${first}:${podPort}, which sees the client's address ${second}`))
    assert.equal((await traced.trace()).code, 0, 'from the node')
  })

  test('a trace follows the node port', async () => {
    const { code, output } = await traced.trace('--node-port')
    assert.equal(code, 0, output)
    assert.match(output, half)
    assert(output.includes(`to the node port ${nodeAddress}, tcp port ${nodePort}`), output)
    if (name !== 'nftables') assert.match(output, /The node port leads to KUBE-EXT-P4Q3KNUAWJVP4ILH/)
    assert.match(traced.lab.connect('outside', nodeAddress, nodePort).join(), oneOfTwo)
  })

  test('a trace names endpoints that only the rules have', async () => {
    await traced.setEndpoints(first)
    const { code, output } = await traced.trace()
    assert.equal(code, 1, output)
    assert.match(output, new RegExp(`only in the rules: ${second}:${podPort}`))
    await traced.setEndpoints(first, second)
  })

  test('a trace says that a firewall drops the connection', async () => {
    const rule = ['FORWARD', '-d', first, '-m', 'comment', '--comment', 'not there', '-j', 'DROP']
    execFileSync('iptables-nft', ['-I', ...rule])
    const { code, output } = await traced.trace('--from', 'outside')
    execFileSync('iptables-nft', ['-D', ...rule])
    assert.equal(code, 1, output)
    assert.match(output, new RegExp(`50 % to ${first}:${podPort}: dropped by FORWARD .*: not there`))
  })

  if (name === 'iptables (nft)') test('a trace explains node ports of older releases', () => traceOlderForm(traced))
}

async function traceOlderForm(traced: TracedNode): Promise<void> {
  const iptables = (...args: readonly string[]): unknown => execFileSync('iptables-nft', ['-t', 'nat', ...args])
  const rule = ['-A', 'KUBE-NODEPORTS', '-p', 'tcp', '--dport', String(nodePort), '-j']
  iptables('-F', 'KUBE-NODEPORTS')
  iptables(...rule, 'KUBE-MARK-MASQ')
  iptables(...rule, 'KUBE-SVC-P4Q3KNUAWJVP4ILH')
  assert.match(traced.lab.connect('outside', nodeAddress, nodePort).join(), oneOfTwo)
  const { output } = await traced.trace('--node-port')
  assert.match(output, /The node port has two rules of its own/)
  assert.match(output, half)
}
