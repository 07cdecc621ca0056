/** `t8s up --etcd-servers`: a cluster on etcd, and a second process of the same cluster. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, stop, t8s, temporaryFolder, up, withoutKubectl } from './t8s-process.ts'

const skip = withoutEtcd || withoutKubectl

test('two processes are one cluster: one runs controllers, scheduler and nodes, the other takes over', {
  skip,
}, async (t) => {
  const [member] = startEtcd(t)
  const folder = temporaryFolder(t)
  const args = (name: string) => [
    `--data-dir=${join(folder, name)}`,
    `--etcd-servers=${member!.url}`,
    '--secure-port=0',
    '--nodes=1',
  ]
  const first = await up(t, args('first'))
  assert.match(first.output(), /^data in unix:.*, certificates in .*first$/m)
  assert.deepEqual(readdirSync(join(folder, 'first', 'store')), ['owner'])

  const foreign = t8s(['up', ...args('second')])
  assert.match(foreign.stderr, /certificates of the cluster in etcd are not in .*second\/pki: copy ca.crt/)
  assert.match(t8s(['up', ...args('first')]).stderr, /first\/store is in use by another process/)

  mkdirSync(join(folder, 'second', 'pki'), { recursive: true })
  for (const name of ['ca.crt', 'ca.key', 'front-proxy-ca.crt', 'front-proxy-ca.key', 'sa.key', 'sa.pub'])
    cpSync(join(folder, 'first', 'pki', name), join(folder, 'second', 'pki', name))
  const second = await up(t, args('second'))
  const ask = (...args: readonly string[]) => kubectl(second.kubeconfig, ...args)
  const running = (count: number) =>
    waitFor(`${count} running pods`, () => {
      const { stdout } = ask('get', 'pods', '--output=jsonpath={.items[*].status.phase}')
      return stdout.split(' ').filter((phase) => phase === 'Running').length === count
    })
  assert.equal(kubectl(first.kubeconfig, 'create', 'deployment', 'web', '--image=web', '--replicas=2').code, 0)
  await running(2)
  const components = ['kube-controller-manager', 'kube-scheduler', 'system:simulated-nodes']
  for (const component of components)
    await waitFor('the leader in the log', () => second.output().includes(`${component} is run by `))
  const holders = () => ask('get', 'leases', '-n', 'kube-system', '--output=jsonpath={.items[*].spec.holderIdentity}')
  const before = new Set(holders().stdout.split(' '))
  const token = kubectl(first.kubeconfig, 'create', 'token', 'default').stdout

  assert.deepEqual(await stop(first), { code: 0, signal: null })
  assert.equal(ask('scale', 'deployment', 'web', '--replicas=4').code, 0)
  await running(4)
  for (const component of components)
    assert.match(second.output(), new RegExp(`^${component} is run by this process`, 'm'))
  const after = new Set(holders().stdout.split(' '))
  assert.equal([...after].filter((holder) => !before.has(holder)).length, components.length)
  // Without a certificate of its own.
  const anyone = ['--server', second.url, '--insecure-skip-tls-verify', `--token=${token}`]
  assert.match(
    kubectl('/dev/null', ...anyone, 'auth', 'whoami', '--output=jsonpath={.status.userInfo.username}').stdout,
    /^system:serviceaccount:default:default$/,
  )
  assert.deepEqual(await stop(second), { code: 0, signal: null })
})
