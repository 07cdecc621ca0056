/** Tests of `t8s up --detach`, `list`, `status` and `down`: clusters in the background, with names. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConfigMap, kubectl, t8s, temporaryFolder, withoutKubectl } from './t8s-process.ts'

test('a detached cluster has a name, and is stopped, started again and deleted by it', {
  skip: withoutKubectl,
}, (t) => {
  const folder = temporaryFolder(t)
  const [mine, data] = [join(folder, 'config'), join(folder, 'typernetes/data/dev')]
  const run = (...args: readonly string[]) =>
    t8s(args, { cwd: folder, env: { XDG_STATE_HOME: folder, KUBECONFIG: mine, TMPDIR: folder } })
  const start = ['up', '--detach', '--name=dev', '--nodes=0'] as const
  t.after(() => run('down', '--all'))

  assert.equal(run('list').stdout, 'no clusters: t8s up --detach starts one\n')
  const started = run(...start)
  assert.equal(started.stderr, '')
  assert.match(started.stdout, /^dev serves on https:\/\/127\.0\.0\.1:\d+\n[\s\S]*\nt8s down --name dev stops it\n$/)
  const again = run(...start)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /^t8s: the cluster dev runs already \(https:.*\): stop it with t8s down --name dev, or/)
  createConfigMap(join(data, 'kubeconfig'), 'kept')
  assert.equal(kubectl(mine, '--context=typernetes-dev', 'get', 'cm', 'kept', '-o', 'name').stdout, 'configmap/kept\n')
  assert.match(run('list').stdout, /^NAME +STATUS +SERVER +DATA\ndev +running +https:\/\/127\.0\.0\.1:\d+ +\//)
  const files = join(folder, 'typernetes/clusters')
  for (const file of ['dev.json', 'dev.log']) assert.equal(statSync(join(files, file)).mode & 0o777, 0o600)

  // As after a failure of the machine: the process is killed, and the record remains.
  process.kill(JSON.parse(readFileSync(join(files, 'dev.json'), 'utf8')).pid, 'SIGKILL')
  assert.deepEqual([run('status', '--name=dev').code, run('list', '-o', 'name').stdout], [1, 'dev\n'])
  assert.equal(run('down', '--name=dev').stdout, 'dev had stopped already\n')

  assert.equal(run(...start).code, 0)
  assert.match(run('status', '--name=dev').stdout, /^dev runs on https/)
  assert.equal(kubectl(mine, '--context=typernetes-dev', 'get', 'cm', 'kept', '-o', 'name').stdout, 'configmap/kept\n')
  assert.equal(run('down', '--name=dev', '--delete').stdout, 'dev stopped\n')
  assert.ok(!existsSync(data))
  assert.match(run('down', '--name=dev').stderr, /^t8s: no cluster dev was started with t8s up --detach: t8s list/)
})

test('a detached cluster that cannot start leaves the reason, and no record', (t) => {
  const folder = temporaryFolder(t)
  const env = { XDG_STATE_HOME: folder }
  const { code, stdout, stderr } = t8s(
    ['up', '--detach', '--nodes=0', `--data-dir=${join(folder, 'data')}`, '--tls-cert-file=missing.pem'],
    { cwd: folder, env },
  )
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^t8s: the cluster did not start \(it ended with 1\):\nt8s: .*--tls-private-key-file go together/,
  )
  assert.equal(t8s(['list', '-o', 'name'], { env }).stdout, '')
})
