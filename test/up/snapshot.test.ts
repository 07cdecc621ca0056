/** Tests of `t8s snapshot`: saving a running cluster to a file and restoring it. */
import assert from 'node:assert/strict'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConfigMap, kubectl, stop, t8s, temporaryFolder, up, withoutKubectl } from './t8s-process.ts'

test('a restored snapshot of a running cluster has the objects of that time', { skip: withoutKubectl }, async (t) => {
  const folder = temporaryFolder(t)
  const [data, file, restored] = [join(folder, 'data'), join(folder, 'backup'), join(folder, 'restored')]
  const running = await up(t, ['--secure-port', '0', '--data-dir', data])
  createConfigMap(running.kubeconfig, 'before')
  const saved = t8s(['snapshot', 'save', file, '--data-dir', data])
  assert.deepEqual([saved.code, saved.stderr, saved.stdout], [0, '', `saved to ${file}\n`])
  assert.equal(statSync(file).mode & 0o077, 0, 'only the owner can read it')
  createConfigMap(running.kubeconfig, 'after')
  await stop(running)

  const made = t8s(['snapshot', 'restore', file, '--data-dir', restored])
  assert.deepEqual([made.code, made.stderr], [0, ''])
  const again = await up(t, ['--secure-port', '0', '--data-dir', restored])
  assert.equal(kubectl(again.kubeconfig, 'get', 'configmap', 'before', '-o', 'jsonpath={.data.a}').stdout, 'b')
  assert.match(kubectl(again.kubeconfig, 'get', 'configmap', 'after').stderr, /NotFound/)
  await stop(again)
})

test('after a restore revisions since the snapshot are Expired, and new ones far above', {
  skip: withoutKubectl,
}, async (t) => {
  const folder = temporaryFolder(t)
  const [data, file, restored] = [join(folder, 'data'), join(folder, 'backup'), join(folder, 'restored')]
  const running = await up(t, ['--secure-port', '0', '--data-dir', data])
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const revisionOf = (kubeconfig: string, name: string): number =>
    Number(kubectl(kubeconfig, 'get', 'configmap', name, '-o', 'jsonpath={.metadata.resourceVersion}').stdout)
  createConfigMap(running.kubeconfig, 'before')
  assert.equal(t8s(['snapshot', 'save', file, '--data-dir', data]).code, 0)
  createConfigMap(running.kubeconfig, 'lost')
  const before = revisionOf(running.kubeconfig, 'before')
  const lost = revisionOf(running.kubeconfig, 'lost')
  await stop(running)

  assert.equal(t8s(['snapshot', 'restore', file, '--data-dir', restored]).code, 0)
  const again = await up(t, ['--secure-port', '0', '--data-dir', restored])
  for (const revision of [before, lost]) {
    const watched = kubectl(
      again.kubeconfig,
      'get',
      '--raw',
      `${configMaps}?watch=true&resourceVersion=${revision}&timeoutSeconds=20`,
    )
    const [first] = watched.stdout.split('\n')
    const event = JSON.parse(first!) as { type: string; object: { code: number; reason: string } }
    assert.deepEqual([event.type, event.object.code, event.object.reason], ['ERROR', 410, 'Expired'])
    const listed = kubectl(
      again.kubeconfig,
      'get',
      '--raw',
      `${configMaps}?resourceVersion=${revision}&resourceVersionMatch=Exact`,
    )
    assert.match(listed.stderr, /too old resource version|Expired|too old/)
  }
  assert.equal(
    revisionOf(again.kubeconfig, 'before'),
    before,
    'objects keep their versions, so that updates based on them succeed',
  )
  assert.equal(kubectl(again.kubeconfig, 'label', 'configmap', 'before', 'after=restore').code, 0)
  assert.ok(revisionOf(again.kubeconfig, 'before') > lost + 900_000_000)
  createConfigMap(again.kubeconfig, 'new')
  const list = JSON.parse(kubectl(again.kubeconfig, 'get', '--raw', configMaps).stdout) as {
    metadata: { resourceVersion: string }
  }
  assert.ok(Number(list.metadata.resourceVersion) >= revisionOf(again.kubeconfig, 'new'))
  const { stdout } = kubectl(
    again.kubeconfig,
    'get',
    '--raw',
    `${configMaps}?watch=true&resourceVersion=${revisionOf(again.kubeconfig, 'before')}&timeoutSeconds=1`,
  )
  assert.match(stdout, /^{"type":"ADDED".*"name":"new"/m)
  await stop(again)
})

test('missing stores, existing files and invalid snapshots are errors', (t) => {
  const folder = temporaryFolder(t)
  const refused = (args: readonly string[], message: RegExp): void => {
    const { code, stderr } = t8s(['snapshot', ...args], { cwd: folder })
    assert.equal(code, 1, stderr)
    assert.match(stderr, message)
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
