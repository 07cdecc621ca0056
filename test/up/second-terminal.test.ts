/**
 * Tests of a second terminal in the folder of a `t8s up`: all commands find its cluster without KUBECONFIG, or print
 * the remedy if there is none.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, repository, t8s, temporaryFolder, up } from './t8s-process.ts'

test('commands find .t8s/kubeconfig in the folder that they run in', async (t) => {
  const cwd = temporaryFolder(t)
  const { kubeconfig } = await up(t, ['--secure-port', '0', '--nodes', '1', '--no-scheduler'], { cwd })
  assert.equal(kubeconfig, join(cwd, '.t8s', 'kubeconfig'))
  await waitFor('a node', () => kubectl(kubeconfig, 'get', 'node', 'node-1').code === 0, { deadlineMs: 30_000 })
  await waitFor('a service account', () => kubectl(kubeconfig, 'get', 'serviceaccount', 'default').code === 0)
  assert.equal(kubectl(kubeconfig, 'run', 'web', '--image=i:1').code, 0)

  const env = { KUBECONFIG: '', HOME: cwd }
  const runs = (args: readonly string[], output: RegExp): void =>
    assert.match(t8s(args, { cwd, env }).stdout, output, args.join(' '))
  runs(['why', 'can-i', 'kubernetes-admin', 'list', 'pods', '--as-group', 'system:masters'], /^yes/)
  runs(['why', 'kept', 'pod', 'web'], /web/)
  runs(['why', 'namespace', 'default'], /default/)
  runs(['why', 'pod', 'web'], /pod default\/web would be scheduled to node node-1/)
  runs(['node', 'fail', 'node-1'], /node-1 fails/)
  runs(['node', 'recover', 'node-1'], /node-1 has recovered/)
  runs(['scale', 'nodes', '1'], /1 nodes, unchanged/)
  runs(['snapshot', 'save', 'copy'], /saved to/)
  assert.match(t8s(['explain-panic', '--pod', 'absent'], { cwd, env }).stderr, /absent/)
  const start = (...args: string[]): (() => string) => {
    const child = spawn(join(repository, 't8s'), args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    return () => output
  }
  const simulated = start('simulated-nodes', '--nodes', '0')
  await waitFor('nodes are simulated', () => /simulating nodes of/.test(simulated()), { deadlineMs: 30_000 })
  start('scheduler', '--secure-port', '0')
  const nodeOfPod = (): string => kubectl(kubeconfig, 'get', 'pod', 'web', '-o', 'jsonpath={.spec.nodeName}').stdout
  await waitFor('the pod has a node', () => nodeOfPod() === 'node-1', { deadlineMs: 30_000 })

  const elsewhere = join(cwd, 'empty')
  mkdirSync(elsewhere)
  for (const args of [
    ['why', 'pod', 'web'],
    ['why', 'kept', 'pod', 'web'],
    ['node', 'fail', 'node-1'],
    ['scale', 'nodes', '1'],
    ['simulated-nodes'],
    ['scheduler'],
    ['explain-panic', '--pod', 'web'],
  ]) {
    const { code, stderr } = t8s(args, { cwd: elsewhere, env: { ...env, HOME: elsewhere } })
    assert.equal(code, 1, args.join(' '))
    assert.match(
      stderr,
      new RegExp(
        String.raw`^t8s: no kubeconfig is given, and neither \S+/\.t8s/kubeconfig nor \S+/\.kube/config exists: ` +
          String.raw`start a cluster here with t8s up, .*\n$`,
      ),
    )
  }
})
