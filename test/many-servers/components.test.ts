/** Two controller managers and two schedulers at two servers of one etcd: one of each works, the other takes over. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SharedInformers } from '../../src/client/informers/shared-informers.ts'
import { deployments, events, pods, serviceAccounts } from '../../src/client/kinds.ts'
import { readyNode } from '../scheduler/ready-node.ts'
import { clientFor } from '../support/client-for.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository } from '../up/t8s-process.ts'

const leaseSeconds = 4
const lease = [
  `--leader-elect-lease-duration=${leaseSeconds}s`,
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
]
const patience = { deadlineMs: 60_000 }

/** A program at one of the servers. `leads` is a line of its log. */
function startProgram(t: TestContext, { kubeconfigFile }: TestCluster, args: readonly string[], leads: RegExp) {
  const child = spawn(
    join(repository, 't8s'),
    [...args, ...lease, '--secure-port=0', `--kubeconfig=${kubeconfigFile}`],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const exited = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.after(kill)
  return { leads: () => leads.test(output), output: () => output, kill }
}

test('one of each leads, pods are created and bound once, and others take over within the time of the lease', {
  skip: withoutEtcd,
}, async (t) => {
  const [member] = startEtcd(t)
  const cluster = () =>
    testCluster(t, { storage: { etcd: { servers: [member!.url] } }, controllers: false, scheduler: false })
  const servers = [await cluster(), await cluster()]
  const managers = servers.map((server) =>
    startProgram(
      t,
      server,
      ['controller-manager', '--controllers=*,-node-lifecycle-controller'],
      /runs the controllers/,
    ),
  )
  const schedulers = servers.map((server) => startProgram(t, server, ['scheduler'], /^leading by the lease/m))
  const client = clientFor(t, servers[0]!)
  const informers = new SharedInformers(clientFor(t, servers[1]!), () => {})
  t.after(() => informers.stop())
  const made = new Set<string>()
  const nodes = new Map<string, Set<string>>()
  informers.of(pods).onChange((pod) => {
    if (!pod) return
    made.add(pod.metadata.uid!)
    if (pod.spec?.nodeName) nodes.set(pod.metadata.uid!, new Set(nodes.get(pod.metadata.uid!)).add(pod.spec.nodeName))
  })
  for (const name of ['one', 'two']) await readyNode(servers[0]!, name)
  await waitFor('the account', () => client.find(serviceAccounts, 'default', 'default'), patience)
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } }
  const spec = { replicas: 10, selector: { matchLabels: labels }, template }
  const metadata = { name: 'web', namespace: 'default' }
  await client.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec })
  await waitFor('ten bound pods', () => nodes.size === 10, patience)

  for (const programs of [managers, schedulers]) {
    const leaders = programs.filter(({ leads }) => leads())
    assert.equal(leaders.length, 1, programs.map(({ output }) => output()).join('\n'))
    await leaders[0]!.kill()
    const killed = performance.now()
    const follower = programs.find((program) => program !== leaders[0])!
    await waitFor('the other to lead', follower.leads, patience)
    const tookMs = performance.now() - killed
    t.diagnostic(`took over after ${Math.round(tookMs)} ms`)
    // The time for work on a machine that is busy is added.
    assert.ok(tookMs < leaseSeconds * 1000 + 3_000, `it took ${Math.round(tookMs)} ms`)
  }
  const patch = { spec: { replicas: 20 } }
  await servers[1]!.call(
    'PATCH',
    '/apis/apps/v1/namespaces/default/deployments/web',
    patch,
    'application/merge-patch+json',
  )
  await waitFor('twenty bound pods', () => nodes.size === 20, patience)
  assert.equal(made.size, 20)
  assert.ok([...nodes.values()].every((names) => names.size === 1))
  const scheduled = await waitFor('the events', async () => {
    const { items } = await client.list(events, { namespace: 'default' })
    const found = items.filter(({ reason }) => reason === 'Scheduled')
    return found.length >= 20 && found
  })
  assert.equal(scheduled.length, 20)
  assert.equal(new Set(scheduled.map(({ involvedObject }) => involvedObject?.uid)).size, 20)
})
