/** Three nodes without Kubernetes: flannel with subnets from etcd. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { type EtcdMember, startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'
import { BareLab, reachEachOther } from './bare-node.ts'

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
})
