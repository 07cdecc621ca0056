/** The program `t8s proxy`, for a cluster of its own network namespace. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { endpointSlices, type Node, nodes, type Service, services } from '../../src/client/kinds.ts'
import { type Cluster, startCluster } from '../../src/cluster/start-cluster.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { listening } from '../support/answering-process.ts'
import { clientFor } from '../support/client-for.ts'
import { waitFor } from '../support/wait-for.ts'
import { type StartedProgram, startProgram } from '../up/started-program.ts'
import { t8s, temporaryFolder } from '../up/t8s-process.ts'

const address = '192.0.2.7'
const nodeName = 'node-a'

const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } }

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    allocateLoadBalancerNodePorts: true,
    ports: [{ port: 80, protocol: 'TCP' }],
  },
}

/** Starts the program, and waits until it serves. */
function startProxy(t: TestContext, kubeconfig: string, ...flags: readonly string[]): Promise<StartedProgram> {
  const args = ['proxy', '--kubeconfig', kubeconfig, '--hostname-override', nodeName, ...flags]
  return startProgram(t, args, 'work by the proxy mode')
}

async function page(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(3000) })
  return { status: response.status, text: await response.text() }
}

const rules = (): string => execFileSync('sh', ['-c', 'nft list ruleset; iptables-save'], { encoding: 'utf8' })

/** A Service with an endpoint on this machine. */
async function createService(t: TestContext, cluster: Cluster): Promise<Required<Pick<Service, 'spec'>>['spec']> {
  const client = clientFor(t, cluster)
  const status = { addresses: [{ type: 'InternalIP', address }] }
  await client.updateStatus(nodes, { ...(await client.create(nodes, node)), status })
  const web = createServer((_request, response) => void response.end('it works'))
  const port = await listening(web, 0, address)
  t.after(() => web.close())
  const { spec } = await client.create(services, service)
  await client.create(endpointSlices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: '', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [address], nodeName, conditions: { ready: true } }],
  })
  assert(spec)
  return spec
}

async function checkPages(healthCheckNodePort: number): Promise<void> {
  const health = await page('http://127.0.0.1:10256/healthz')
  assert.equal(health.status, 200)
  assert.match(health.text, /^\{"lastUpdated": "[^"]+ UTC","currentTime": "[^"]+", "nodeEligible": true\}$/)
  assert.deepEqual(JSON.parse((await page(`http://${address}:${healthCheckNodePort}/`)).text), {
    service: { namespace: 'default', name: 'web' },
    localEndpoints: 1,
    serviceProxyHealthy: true,
  })
  assert.equal((await page('http://127.0.0.1:10249/proxyMode')).text, 'nftables')
  assert.match((await page('http://127.0.0.1:10249/configz')).text, /"kubeproxy.config.k8s.io":\{.*"mode":"nftables"/)
  const metrics = (await page('http://127.0.0.1:10249/metrics')).text
  assert.match(metrics, /kubeproxy_sync_full_proxy_rules_duration_seconds_count\{ip_family="IPv4"\} [1-9]/)
  assert.match(metrics, /kubeproxy_proxy_healthz_total\{code="200"\} 1/)
}

async function checkEligibility(t: TestContext, cluster: Cluster): Promise<void> {
  const taint = { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }
  await clientFor(t, cluster).patch(nodes, '', nodeName, { spec: { taints: [taint] } }, 'merge')
  await waitFor('the node is not eligible', async () => (await page('http://127.0.0.1:10256/healthz')).status === 503)
  assert.equal((await page('http://127.0.0.1:10256/livez')).status, 200)
}

await inNamespaces(import.meta.filename, () => {
  execFileSync('sh', [
    '-ec',
    `ip link set lo up; ip link add eth0 type veth peer name outside; ip addr add ${address}/24 dev eth0
     ip link set eth0 up; ip link set outside up; ip route add default via 192.0.2.1`,
  ])

  test('t8s proxy serves Services, health, metrics and health-check node ports, and cleans up', async (t) => {
    const cluster = await startCluster({ bindAddress: '127.0.0.1' })
    t.after(() => cluster.stop())
    const folder = temporaryFolder(t)
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, cluster.kubeconfigYaml)
    const { clusterIP = '', ports = [], healthCheckNodePort = 0 } = await createService(t, cluster)

    let proxy = await startProxy(t, kubeconfig, '--cluster-cidr', '10.0.0.0/8')
    const isServed = () =>
      waitFor('the Service is served', () =>
        page(`http://${clusterIP}/`).then(
          ({ text }) => text === 'it works',
          () => false,
        ),
      )
    await isServed()
    assert.equal((await page(`http://${address}:${ports[0]?.nodePort}/`)).text, 'it works')
    await checkPages(healthCheckNodePort)
    await checkEligibility(t, cluster)

    // Rules outlive the program, and another mode replaces them.
    await proxy.stop()
    await isServed()
    proxy = await startProxy(t, kubeconfig, '--proxy-mode', 'iptables', '--profiling', '--healthz-port', '0')
    await waitFor('rules of iptables only', () => /KUBE-SVC/.test(rules()) && !/table ip kube-proxy/.test(rules()))
    await isServed()
    assert.match(proxy.output(), /Flag --healthz-port has been deprecated/)
    assert.match((await page('http://127.0.0.1:10249/debug/pprof/')).text, /profile/)
    await proxy.stop()
    const { code, stderr } = t8s(['proxy', '--cleanup'])
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(rules(), /KUBE-SVC|KUBE-SERVICES|table ip kube-proxy/)
  })

  testConfiguration()
})

function testConfiguration(): void {
  test('t8s proxy reads a KubeProxyConfiguration, writes the one in effect, and names faults', (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'config.yaml')
    const write = (text: string): void =>
      writeFileSync(file, `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n${text}`)
    const target = join(folder, 'written.yaml')
    write('mode: iptables\nclusterCIDR: 10.244.0.0/16\nconntrack: {maxPerCore: 0}\n')
    assert.equal(t8s(['proxy', '--config', file, '--write-config-to', target]).code, 0)
    const written = readFileSync(target, 'utf8')
    assert.match(written, /^kind: KubeProxyConfiguration$/m)
    assert.match(written, /^mode: iptables$/m)
    assert.match(written, /^ {2}minSyncPeriod: 1s$/m)
    write('mode: fast\nbindAddress: here\n')
    assert.match(
      t8s(['proxy', '--config', file]).stderr,
      /BindAddress: Invalid value: "here": not a valid textual representation of an IP address/,
    )
    write('clusterCidr: 10.244.0.0/16\n')
    assert.match(t8s(['proxy', '--config', file]).stderr, /strict decoding error: unknown field "clusterCidr"/)
    assert.match(t8s(['proxy', '--nonsense']).stderr, /unknown flag: --nonsense/)
    assert.match(t8s(['proxy', '--help']).stdout, /--nodeport-addresses strings/)
  })
}
