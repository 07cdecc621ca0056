/** Logs, exec, attach, port-forward and usage of simulated pods, with all installed versions of kubectl. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { type Pod, pods } from '../../src/client/kinds.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor as eventually } from '../support/wait-for.ts'
import { temporaryFolder } from '../up/t8s-process.ts'

const prefix = 'simulation.typernetes.io'
const pod = (
  name: string,
  annotations: Record<string, string> = {},
  more: Partial<NonNullable<Pod['spec']>> = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    labels: { app: name },
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${prefix}/${key}`, value])),
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx:1' }], ...more },
})
const phase = (wanted: string) => (object: Pod | undefined) => object?.status?.phase === wanted

test('logs, exec, attach and port-forward answer that the pod is simulated', async (t) => {
  const cluster = await testCluster(t, { nodes: 2 })
  const client = clientFor(t, cluster)
  const { call, kubeconfigFile, folder } = cluster
  await client.create(pods, pod('web', { log: 'hello\nworld', cpu: '250m', memory: '64Mi', 'exec-exit-code': '3' }))
  await client.create(pods, pod('done', { 'run-for': '10ms' }, { restartPolicy: 'Never' }))
  await client.create(pods, pod('waiting', { 'start-delay': '1h' }))
  await waitFor(client, pods, { namespace: 'default', name: 'web' }, phase('Running'))
  await waitFor(client, pods, { namespace: 'default', name: 'done' }, phase('Succeeded'))
  await waitFor(client, pods, { namespace: 'default', name: 'waiting' }, phase('Pending'))

  for (const program of installedKubectls()) {
    await t.test(`kubectl ${program.version}`, async () => {
      const kubectl = new Kubectl(program, kubeconfigFile, folder)
      await kubectl.ok(
        'logs web',
        'container c of pod default/web is simulated on node-1: nothing runs and nothing is logged\nhello\nworld\n',
      )
      await kubectl.ok('logs web --tail 1', 'world\n')
      await kubectl.ok('logs web --tail 1 --timestamps', /^\d{4}-\d\d-\d\dT\S+Z world\n$/)
      await kubectl.ok('logs -f done', /container c has ended with exit code 0 \(Completed\)\n$/)
      await kubectl.fails(
        'logs waiting',
        /\(BadRequest\): container "c" in pod "waiting" is waiting to start: ContainerCreating/,
      )
      await kubectl.fails('logs web --previous', /previous terminated container "c" in pod "web" not found/)
      const executed = await kubectl.run('exec web -- ls -l')
      assert.equal(executed.code, 3)
      assert.match(
        executed.stderr,
        /default\/web is simulated on node-1: nothing runs in container c, and this command was not executed: ls -l/,
      )
      const piped = await kubectl.run('exec -i web -- cat', { input: 'x\n' })
      assert.equal(piped.code, 3, piped.stderr)
      const attached = kubectl.spawn('attach web')
      const [shown] = await once(attached.stdout!, 'data')
      assert.match(String(shown), /container c of pod default\/web is simulated/)
      attached.kill()
      await once(attached, 'close')
      const forwarding = kubectl.spawn('port-forward pod/web :80')
      const [line] = await once(forwarding.stdout!, 'data')
      const [, port] = /127\.0\.0\.1:(\d+) -> 80/.exec(String(line)) ?? []
      assert.equal(
        await (await fetch(`http://127.0.0.1:${port}/`)).text(),
        'pod default/web is simulated on node-1: nothing listens on its port 80\n',
      )
      forwarding.kill()
      await once(forwarding, 'close')
    })
  }

  const summary = (await call('GET', '/api/v1/nodes/node-1/proxy/stats/summary')) as unknown as {
    node: { nodeName: string }
    pods: { podRef: { name: string } }[]
  }
  assert.equal(summary.node.nodeName, 'node-1')
  assert.ok(summary.pods.some(({ podRef }) => podRef.name === 'web'))
  await assert.rejects(
    call('GET', '/api/v1/namespaces/default/pods/web/exec?command=ls'),
    /400 .*Upgrade request required/,
  )
})

test("logs work right after a restart: the node's status has the kubelet's new address", async (t) => {
  const directory = temporaryFolder(t)
  const start = () => testCluster(t, { nodes: 1, storage: { directory } })
  const first = await start()
  const running = clientFor(t, first)
  await running.create(pods, pod('web'))
  await waitFor(running, pods, { namespace: 'default', name: 'web' }, phase('Running'))
  await first.stop({ graceMs: 0 })
  const { kubeconfigFile, folder } = await start()
  const kubectl = new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, folder)
  await eventually('the logs', async () => (await kubectl.run('logs web')).code === 0)
})

test('port-forward through a WebSocket tunnel works without a fallback', async (t) => {
  const cluster = await testCluster(t, { nodes: 1 })
  const client = clientFor(t, cluster)
  await client.create(pods, pod('web'))
  await waitFor(client, pods, { namespace: 'default', name: 'web' }, phase('Running'))
  const tunnelling = installedKubectls().filter(({ minor }) => minor >= 30)
  for (const program of tunnelling) {
    await t.test(`kubectl ${program.version}`, async () => {
      const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
      // The default since 1.31.
      const forwarding = kubectl.spawn('port-forward pod/web :80 -v=8', {
        env: { KUBECTL_PORT_FORWARD_WEBSOCKETS: 'true' },
      })
      let output = ''
      forwarding.stderr!.on('data', (chunk) => (output += chunk))
      const [line] = await once(forwarding.stdout!, 'data')
      const [, port] = /127\.0\.0\.1:(\d+) -> 80/.exec(String(line)) ?? []
      for (let i = 0; i < 3; i++)
        assert.equal(
          await (await fetch(`http://127.0.0.1:${port}/`)).text(),
          'pod default/web is simulated on node-1: nothing listens on its port 80\n',
        )
      forwarding.kill()
      await once(forwarding, 'close')
      assert.match(
        output,
        /The subprotocol is SPDY\/3\.1\+portforward\.k8s\.io|negotiated protocol:.*portforward\.k8s\.io/i,
      )
      assert.doesNotMatch(output, /fallback|falling back/i)
    })
  }
})

test('kubectl top shows the annotated usage', async (t) => {
  const cluster = await testCluster(t, { nodes: 2 })
  const client = clientFor(t, cluster)
  const { kubeconfigFile, folder } = cluster
  await client.create(pods, pod('web', { cpu: '250m', memory: '64Mi' }))
  await waitFor(client, pods, { namespace: 'default', name: 'web' }, phase('Running'))
  for (const program of installedKubectls()) {
    const kubectl = new Kubectl(program, kubeconfigFile, folder)
    await eventually('metrics', async () => (await kubectl.run('top pods')).code === 0)
    await kubectl.ok('top pods -l app=web --no-headers', /^web +250m +64Mi\s*$/)
    await kubectl.ok('top pod web --containers --no-headers', /^web +c +250m +64Mi\s*$/)
    const nodes = (await kubectl.ok('top nodes --no-headers')).trim().split('\n')
    assert.deepEqual(
      nodes.map((line) => line.split(/ +/)[0]),
      ['node-1', 'node-2'],
    )
    assert.match(nodes[0] ?? '', /^node-1 +300m +7% /)
  }
})

test('a kubelet authenticates clients by certificate and authorizes them', async (t) => {
  const cluster = await testCluster(t, { nodes: 1 })
  const client = clientFor(t, cluster)
  await client.create(pods, pod('web'))
  await waitFor(client, pods, { namespace: 'default', name: 'web' }, phase('Running'))
  const node = (await cluster.call('GET', '/api/v1/nodes/node-1')) as unknown as {
    status: { daemonEndpoints: { kubeletEndpoint: { Port: number } } }
  }
  const url = `https://127.0.0.1:${node.status.daemonEndpoints.kubeletEndpoint.Port}/containerLogs/default/web/c`
  const { request } = await import('node:https')
  const status = async (certificate: { cert?: string; key?: string }): Promise<number | undefined> => {
    const sent = request(url, { ca: cluster.client.ca, ...certificate, agent: false }).end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    return answer.statusCode
  }
  const nobody = await cluster.user({ name: 'nobody' })
  assert.equal(await status({}), 401)
  assert.equal(await status(nobody.client), 403)
  assert.equal(await status(cluster.client), 200)
})
