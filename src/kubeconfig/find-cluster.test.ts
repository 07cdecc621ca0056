import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clusterEnvironment } from './find-cluster.ts'

test('a cluster is found by KUBECONFIG, by the folder, by the home, and else by nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-find-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const HOME = join(folder, 'home')
  const [here, usual] = [join(folder, '.t8s', 'kubeconfig'), join(HOME, '.kube', 'config')]
  const found = async (environment: NodeJS.ProcessEnv = {}, choice = {}) =>
    (await clusterEnvironment(choice, { HOME, ...environment }, folder)).KUBECONFIG
  await assert.rejects(found(), (error: Error) => {
    assert.equal(
      error.message,
      `no cluster is named, and neither ${here} nor ${usual} is there: start a cluster here by t8s up, or name a ` +
        'kubeconfig by --kubeconfig or KUBECONFIG',
    )
    return true
  })
  assert.equal(await found({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), undefined, 'the account of a pod')
  for (const file of [here, usual]) mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(usual, '')
  assert.equal(await found(), undefined, 'as kubectl')
  writeFileSync(here, '')
  assert.equal(await found(), here)
  assert.equal(await found({}, { context: 'work' }), `${here}:${usual}`, 'a context may be one of the others')
  assert.equal(await found({ KUBECONFIG: 'mine' }), 'mine')
  assert.equal(await found({}, { kubeconfig: 'given' }), undefined)
  writeFileSync(here, 'users: [{name: a, user: {"exec": {command: x}}}]')
  await assert.rejects(
    found(),
    /names a program to run, which t8s up never does: if you trust it, name the file by --kubeconfig/,
  )
})
