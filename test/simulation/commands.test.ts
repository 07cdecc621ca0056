/**
 * The commands for simulated nodes, run as processes: up, scale, fail, recover, and simulated-nodes for a cluster
 * elsewhere.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, repository, stop, t8s, temporaryFolder, up } from '../up/t8s-process.ts'

const nodesOf = (kubeconfig: string): string[] =>
  kubectl(kubeconfig, 'get', 'nodes', '--no-headers')
    .stdout.split('\n')
    .filter((line) => / Ready /.test(line))
    .map((line) => line.split(' ')[0] ?? '')

test('t8s up has as many nodes as requested, or as before the restart', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'nodes.yaml')
  writeFileSync(
    config,
    'apiVersion: simulation.typernetes.io/v1alpha1\nkind: SimulatedNodes\ngroups: [{ name: node, count: 1 }, { ' +
      'name: gpu, count: 1, taints: [{ key: gpu, effect: NoSchedule }] }]\n',
  )
  const flags = ['--data-dir', folder, '--secure-port', '0', '--nodes']
  const running = await up(t, [...flags, '2', '--node-config', config])
  await waitFor('two nodes', () => nodesOf(running.kubeconfig).join() === 'gpu-1,node-1', { deadlineMs: 30_000 })
  const env = { KUBECONFIG: running.kubeconfig }
  const failed = t8s(['node', 'fail', 'gpu-1', '--how', 'not-ready'], { env })
  assert.deepEqual([failed.code, failed.stdout], [0, 'gpu-1 fails: not-ready\n'], failed.stderr)
  await waitFor('a node that failed', () => nodesOf(running.kubeconfig).join() === 'node-1', { deadlineMs: 30_000 })
  assert.equal(t8s(['node', 'recover', 'gpu-1'], { env }).code, 0)
  await waitFor('a node that recovered', () => nodesOf(running.kubeconfig).length === 2, { deadlineMs: 30_000 })
  assert.match(
    t8s(['node', 'fail', 'node-9'], { env }).stderr,
    /there is no node node-9: list the nodes with kubectl get nodes/,
  )
  assert.equal(t8s(['scale', 'nodes', '1'], { env }).stdout, 'scaled from 2 to 1 nodes\n')
  await waitFor('one node', () => nodesOf(running.kubeconfig).join() === 'node-1', { deadlineMs: 30_000 })
  await stop(running)
  const empty = await up(t, [...flags, '0'])
  await waitFor('no nodes', () => kubectl(empty.kubeconfig, 'get', 'nodes', '-o', 'name').stdout === '', {
    deadlineMs: 30_000,
  })
  await stop(empty)
})

test('invalid node flags are rejected with the allowed values', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'wrong.yaml'), 'kind: Other')
  const error = (...args: string[]): string => t8s(['up', '--secure-port', '0', ...args], { cwd: folder }).stderr
  assert.match(error('--nodes', 'many'), /It must be a number from 0 to 20000/)
  assert.match(error('--node-type', 'other'), /Allowed choices are auto, real, simulated/)
  assert.match(
    error('--node-type=simulated', '--kubelet-config', 'kubelet.yaml'),
    /--kubelet-config is a flag of real nodes: leave out --node-type=simulated/,
  )
  assert.match(error('--node-cpu', 'lots'), /It must be a quantity such as 4, 500m or 16Gi/)
  assert.match(error('--node-config', 'wrong.yaml'), /cannot use the nodes in wrong.yaml: .*; check --node-config/)
  assert.match(error('--pod-stages', 'wrong.yaml'), /cannot use the stages in wrong.yaml: .*; check --pod-stages/)
})

test('t8s simulated-nodes adds nodes to a cluster elsewhere', async (t) => {
  const { kubeconfig } = await up(t, ['--data-dir', temporaryFolder(t), '--secure-port', '0', '--nodes', '0'])
  const child = spawn(join(repository, 't8s'), ['simulated-nodes', '--kubeconfig', kubeconfig, '--nodes', '2'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await waitFor('two nodes', () => nodesOf(kubeconfig).join() === 'node-1,node-2', { deadlineMs: 30_000 })
  await waitFor('a service account', () => kubectl(kubeconfig, 'get', 'serviceaccount', 'default').code === 0)
  const created = kubectl(kubeconfig, 'run', 'web', '--image=i:1', '--overrides={"spec":{"nodeName":"node-2"}}')
  assert.equal(created.code, 0, created.stderr)
  await waitFor('its log', () => /is simulated on node-2/.test(kubectl(kubeconfig, 'logs', 'web').stdout), {
    deadlineMs: 30_000,
  })
  const missing = t8s(['scale', 'nodes', '1'], { env: { KUBECONFIG: '/no/such/file' } })
  assert.equal(missing.code, 1)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})
