/** Nodes without Kubernetes: flannel with subnets from etcd, on one link and on the router of a cloud. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { type EtcdMember, startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'
import { BareLab, reachEachOther } from './bare-node.ts'
import { AwsCloud } from './clouds/aws-cloud.ts'

await inNamespaces(import.meta.filename, () => {
  if (withoutEtcd) {
    test('nodes without Kubernetes', { skip: withoutEtcd })
    return
  }
  const lab = new BareLab({ after })
  const [etcd] = startEtcd({ after }) as [EtcdMember]
  const etcdctl = (...args: readonly string[]): string =>
    execFileSync('etcdctl', ['--endpoints', etcd.url, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ETCDCTL_API: '3' },
      stdio: 'pipe',
    })
  const flags = ['--etcd-endpoints', etcd.url, '--ip-masq']
  const [a, b, c] = [lab.node('a', 101), lab.node('b', 102), lab.node('c', 103)] as const

  test('each node gets a subnet from etcd, and pods on their bridges reach each other', async () => {
    const config = { Network: '10.5.0.0/16', Backend: { Type: 'host-gw' } }
    await waitFor('etcd', () => etcdctl('put', '/coreos.com/network/config', JSON.stringify(config)))
    const all = [a, b, c]
    await Promise.all(all.map((node) => node.start(flags)))
    assert.equal(new Set(all.map((node) => node.variable('FLANNEL_SUBNET'))).size, 3)
    await reachEachOther(all.map((node) => node.pod()))
    assert.ok(a.run('ip route').includes(`via ${b.address} dev eth0`))
  })

  test('a node keeps its subnet over a restart', async () => {
    const subnet = a.variable('FLANNEL_SUBNET')
    await a.stop()
    await a.start(flags)
    assert.equal(a.variable('FLANNEL_SUBNET'), subnet)
    assert.match(a.output, /Found lease .* for current IP \(192\.168\.33\.101\), reusing/)
  })

  test('a node whose lease is deleted ends, its routes go, and it returns with its subnet', async () => {
    const subnet = c.variable('FLANNEL_SUBNET')
    etcdctl('del', `/coreos.com/network/subnets/${subnet.replace(/1\/24$/, '0-24')}`)
    await waitFor('the end of flannel', () => c.hasEnded())
    assert.match(c.output, /Lease has been revoked\. Shutting down daemon/)
    const hasRoute = (): boolean => a.run('ip route').includes(`via ${c.address} `)
    await waitFor('no route', () => !hasRoute())
    // The subnet file has the earlier subnet, which nobody has taken.
    await c.start(flags)
    assert.match(c.output, /Found previously leased subnet/)
    assert.equal(c.variable('FLANNEL_SUBNET'), subnet)
    await waitFor('a route', hasRoute)
  })

  testInVpc(lab, etcdctl, etcd.url)
})

/** Instances of AWS are two more nodes of the lab. The process of the test is the router of their VPC. */
function testInVpc(lab: BareLab, etcdctl: (...args: readonly string[]) => string, etcdUrl: string): void {
  test('pods of instances of AWS reach each other by routes of the VPC alone', async (t) => {
    // The kernel has the routes of the stand-in's table.
    const [d, e] = [lab.node('d', 104), lab.node('e', 105)] as const
    const instances = [d, e].map(({ name, address }) => ({ id: `i-${name}`, address }))
    const cloud = await new AwsCloud(instances, () => {
      const addressOf = new Map(instances.map(({ id, address }) => [`eni-${id}`, address]))
      execFileSync('ip', ['route', 'flush', 'root', '10.6.0.0/16'])
      for (const { destination, networkInterface } of cloud.routes) {
        const gateway = addressOf.get(networkInterface)
        const way = gateway === undefined ? ['blackhole', destination] : [destination, 'via', gateway]
        execFileSync('ip', ['route', 'add', ...way])
      }
    }).start(t, '192.168.33.1')
    const backend = { Type: 'aws-vpc', Endpoint: cloud.url, MetadataEndpoint: cloud.url }
    etcdctl('put', '/vpc/config', JSON.stringify({ Network: '10.6.0.0/16', Backend: backend }))
    const inVpc = ['--etcd-endpoints', etcdUrl, '--etcd-prefix', '/vpc']
    await Promise.all([d, e].map((node) => node.start(inVpc)))
    const pods = [d.pod(), e.pod()]
    await reachEachOther(pods)
    assert.doesNotMatch(d.run('ip route'), /^10\.6\.\S+ via/m, 'the node itself has no route to the other one')
    assert.equal(cloud.unchecked.size, 2)

    // An instance ends: the next start of flannel on another one removes its route.
    await e.stop()
    instances.pop()
    await d.stop()
    await d.start(inVpc)
    assert.match(d.output, /Removing blackhole route: 10\.6\./)
    assert.deepEqual(
      cloud.routes.map(({ networkInterface }) => networkInterface),
      ['eni-i-d'],
    )
  })
}
