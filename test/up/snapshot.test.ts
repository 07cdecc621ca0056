/** `t8s snapshot`: the data of a running cluster in a file, and a cluster from such a file. */
import assert from 'node:assert/strict'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConfigMap, kubectl, stop, t8s, temporaryFolder, up, withoutKubectl } from './t8s-process.ts'

test('a snapshot of a running cluster restores what it held then', { skip: withoutKubectl }, async (t) => {
  const folder = temporaryFolder(t)
  const [data, file, restored] = [join(folder, 'data'), join(folder, 'backup'), join(folder, 'restored')]
  const running = await up(t, ['--secure-port', '0', '--data-dir', data])
  createConfigMap(running.kubeconfig, 'before')
  const saved = t8s(['snapshot', 'save', file, '--data-dir', data])
  assert.deepEqual([saved.code, saved.stderr, saved.stdout], [0, '', `saved to ${file}\n`])
  assert.equal(statSync(file).mode & 0o077, 0, 'secrets in it are for their owner alone')
  createConfigMap(running.kubeconfig, 'after')
  await stop(running)

  const made = t8s(['snapshot', 'restore', file, '--data-dir', restored])
  assert.deepEqual([made.code, made.stderr], [0, ''])
  const again = await up(t, ['--secure-port', '0', '--data-dir', restored])
  assert.equal(kubectl(again.kubeconfig, 'get', 'configmap', 'before', '-o', 'jsonpath={.data.a}').stdout, 'b')
  assert.match(kubectl(again.kubeconfig, 'get', 'configmap', 'after').stderr, /NotFound/)
  await stop(again)
})

test('snapshots refuse what is not there, what is in the way and what is no snapshot', (t) => {
  const folder = temporaryFolder(t)
  const refused = (args: readonly string[], says: RegExp): void => {
    const { code, stderr } = t8s(['snapshot', ...args], { cwd: folder })
    assert.equal(code, 1, stderr)
    assert.match(stderr, says)
    assert.doesNotMatch(stderr, /^\s+at /m)
  }
  writeFileSync(join(folder, 'words'), 'just words')
  refused(['save', 'backup', '--data-dir', 'nothing'], /nothing.* holds no store/)
  assert.ok(!existsSync(join(folder, 'nothing')))
  refused(['save', 'words', '--data-dir', 'nothing'], /words exists already/)
  refused(['restore', 'words', '--data-dir', 'restored'], /words/)
  refused(['restore', 'absent', '--data-dir', 'restored'], /absent/)
  refused(['restore', 'words'], /--data-dir/)
})
