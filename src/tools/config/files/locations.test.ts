import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { kubeconfigLocations } from './locations.ts'

test('files and target are the same as for kubectl', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-locations-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [a, b, c] = ['a', 'b', 'c'].map((name) => join(folder, name)) as [string, string, string]
  assert.deepEqual(kubeconfigLocations({ HOME: '/home/me' }), {
    files: ['/home/me/.kube/config'],
    target: '/home/me/.kube/config',
  })
  assert.deepEqual(kubeconfigLocations({ KUBECONFIG: a }, b), { files: [b], target: b })
  assert.deepEqual(
    kubeconfigLocations({ KUBECONFIG: `${a}::${b}:${a}:${c}` }),
    { files: [a, b, c], target: c },
    'the last, if none exists',
  )
  writeFileSync(b, '')
  assert.equal(kubeconfigLocations({ KUBECONFIG: `${a}:${b}:${c}` }).target, b, 'the first that exists')
})
