/** A cluster of `t8s up` whose Services and pods have addresses of both families. Needs root. */
import assert from 'node:assert/strict'
import { isIPv4, isIPv6 } from 'node:net'
import { test } from 'node:test'
import type { Node, Service } from '../../../src/client/kinds.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { runtimeVariable } from '../../kubelet/support/runtimes/node-runtime.ts'
import { waitFor } from '../../support/wait-for.ts'
import { machineAddress, machineAddress6 } from '../machine.ts'
import { type Clients, startClients } from './support/clients.ts'
import { inServedNamespace, type ServedCluster, type ServedRequests, servedCluster } from './support/served-cluster.ts'
import { createService, readService, serverPort, startServers } from './support/services.ts'

process.env[runtimeVariable] ??= 'embedded'

const selector = { app: 'web' }
const ports = [{ name: 'http', port: 80, targetPort: serverPort }]

/** The parts that tests share, which start at the same time. */
interface Started {
  readonly served: Promise<ServedCluster>
  readonly clients: Promise<Clients>
  readonly space: Promise<ServedRequests>
  /** The names of two servers behind the selector. */
  readonly servers: Promise<readonly string[]>
}

await inNamespaces(import.meta.filename, () => {
  const served = servedCluster('--service-cluster-ip-range=10.96.0.0/16,fd00:96::/108')
  const clients = startClients(served)
  clients.catch(() => {})
  const space = inServedNamespace(served, 'dual-stack')
  const servers = space.then((one) => startServers(one, 'web', 2))
  servers.catch(() => {})
  testAddresses({ served, clients, space, servers })
  testNames({ served, clients, space, servers })
})

function testAddresses({ served, clients, space, servers }: Started): void {
  test('a node and its pods have addresses of both families', async () => {
    const { cluster, node } = await served
    const { spec, status } = (await cluster.call('GET', `/api/v1/nodes/${node}`)) as unknown as Node
    const internal = status?.addresses?.filter(({ type }) => type === 'InternalIP').map(({ address }) => address)
    assert.deepEqual(internal, [machineAddress, machineAddress6])
    assert.deepEqual(
      spec?.podCIDRs?.map((range) => range.includes(':')),
      [false, true],
    )
    const { pod } = await clients
    const ips = pod.pod.status?.podIPs?.map(({ ip }) => ip ?? '') ?? []
    assert.deepEqual(
      [ips.map(isIPv4), ips.map(isIPv6)],
      [
        [true, false],
        [false, true],
      ],
    )
  })

  for (const policy of ['RequireDualStack', 'PreferDualStack'] as const)
    test(`a Service with ${policy} is reached by both families`, async () => {
      const name = policy.toLowerCase()
      await createService(await space, name, { type: 'NodePort', ipFamilyPolicy: policy, selector, ports })
      const { spec } = await readService(await space, name)
      const [ipv4 = '', ipv6 = ''] = spec?.clusterIPs ?? []
      assert.deepEqual([isIPv4(ipv4), isIPv6(ipv6)], [true, true])
      const names = await servers
      const { pod, node } = await clients
      const nodePort = spec?.ports?.[0]?.nodePort ?? 0
      for (const client of [pod, node])
        for (const address of [ipv4, ipv6]) await client.exactly([address, 80], ...names)
      for (const address of [machineAddress, machineAddress6]) await node.exactly([address, nodePort], ...names)
      const full = `${name}.dual-stack.svc.cluster.local`
      for (const [type, address] of [
        ['A', ipv4],
        ['AAAA', ipv6],
      ] as const)
        await waitFor(`${type} of ${full}`, async () => (await pod.run('dig', '+short', full, type)).trim() === address)
    })
}

function testNames({ clients, space, servers }: Started): void {
  test('names of a headless Service have addresses of both families, and one of a family has no other', async () => {
    const { api } = await space
    await createService(await space, 'headless', {
      clusterIP: 'None',
      ipFamilyPolicy: 'RequireDualStack',
      selector,
      ports,
    })
    await createService(await space, 'only-ipv6', { ipFamilies: ['IPv6'], selector, ports })
    const names = await servers
    const { pod } = await clients
    const answers = async (name: string, type: string): Promise<string[]> =>
      (await pod.run('dig', '+short', `${name}.dual-stack.svc.cluster.local`, type)).trim().split('\n').filter(Boolean)
    await waitFor('two addresses', async () => (await answers('headless', 'AAAA')).length === 2)
    const [ipv4, ipv6] = [await answers('headless', 'A'), await answers('headless', 'AAAA')]
    assert.deepEqual([ipv4.length, ipv4.every(isIPv4), ipv6.every(isIPv6)], [2, true, true])
    const { spec } = await api.get<Service>(`${api.core}/services/only-ipv6`)
    await pod.exactly([spec?.clusterIP ?? '', 80], ...names)
    assert.deepEqual(await answers('only-ipv6', 'AAAA'), [spec?.clusterIP])
    assert.deepEqual(await answers('only-ipv6', 'A'), [])
  })
}
