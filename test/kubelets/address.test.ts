/** Kubelets of real nodes are reached by the nodes' internal addresses, as kubeadm sets it up. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { lonely, startWorker } from './worker.ts'

test('logs, exec and port-forward work on a node whose host name does not resolve', async (t) => {
  const cluster = await testCluster(t, lonely)
  const worker = await startWorker(t, cluster, (response) => void response.end('written on worker-1\n'))
  for (const program of installedKubectls()) {
    await t.test(`kubectl ${program.version}`, async () => {
      const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
      await kubectl.ok('logs web', 'written on worker-1\n')
      await kubectl.ok('exec web -- echo hello', 'echo hello\n')
      const forwarding = kubectl.spawn('port-forward pod/web :80')
      const [line] = await once(forwarding.stdout!, 'data')
      const [, port] = /127\.0\.0\.1:(\d+) -> 80/.exec(String(line)) ?? []
      assert.match(
        await (await fetch(`http://127.0.0.1:${port}/`)).text(),
        /^pod default\/web is simulated on worker-1/,
      )
      forwarding.kill()
      await once(forwarding, 'close')
    })
  }
  const calls = worker.asked.map(({ line }) => line.replace(/\?.*/, '').replace(/^(GET|POST) /, ''))
  assert.deepEqual(
    [...new Set(calls)],
    ['/containerLogs/default/web/c', '/exec/default/web/c', '/portForward/default/web'],
  )
  assert.deepEqual([...new Set(worker.asked.map(({ by }) => by))], ['kube-apiserver-kubelet-client'])
})

test('--kubelet-preferred-address-types overrides the order of addresses', async (t) => {
  const cluster = await testCluster(t, {
    ...lonely,
    apiServerFlags: [...(lonely.apiServerFlags ?? []), '--kubelet-preferred-address-types=Hostname,InternalIP'],
  })
  await startWorker(t, cluster, (response) => void response.end())
  await assert.rejects(cluster.call('GET', '/api/v1/namespaces/default/pods/web/log'), /worker-1\.invalid/)
})
