import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clusterEnvironment } from './find-cluster.ts'

test('the cluster is found by KUBECONFIG, then the folder, then the home directory', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-find-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const HOME = join(folder, 'home')
  const [folderFile, homeFile] = [join(folder, '.t8s', 'kubeconfig'), join(HOME, '.kube', 'config')]
  const found = async (environment: NodeJS.ProcessEnv = {}, choice = {}) =>
    (await clusterEnvironment(choice, { HOME, ...environment }, folder)).KUBECONFIG
  await assert.rejects(found(), (error: Error) => {
    assert.equal(
      error.message,
      `no kubeconfig is given, and neither ${folderFile} nor ${homeFile} exists: start a cluster here with t8s up, ` +
        'or use --kubeconfig or KUBECONFIG',
    )
    return true
  })
  assert.equal(await found({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), undefined, 'the service account of a pod')
  for (const file of [folderFile, homeFile]) mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(homeFile, '')
  assert.equal(await found(), undefined, 'as kubectl')
  writeFileSync(folderFile, '')
  assert.equal(await found(), folderFile)
  assert.equal(await found({}, { context: 'work' }), `${folderFile}:${homeFile}`, 'a context may be in either file')
  assert.equal(await found({ KUBECONFIG: 'mine' }), 'mine')
  assert.equal(await found({}, { kubeconfig: 'given' }), undefined)
  writeFileSync(folderFile, 'users: [{name: a, user: {"exec": {command: x}}}]')
  await assert.rejects(
    found(),
    /has an exec plugin, which t8s up never writes: if you trust it, pass the file with --kubeconfig/,
  )
})
