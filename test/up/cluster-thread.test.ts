/** Clusters on their own thread, as programs use them: with blocking calls, and without `stop`. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { ExplainedError } from '../../src/lib/explained-error.ts'
import { temporaryFolder } from './t8s-process.ts'

const builtPackage = join(import.meta.dirname, '../../.build/exports/index.js')

/** Runs a program with the package, whose first line imports it. Fails if the program runs for more than 20 s. */
function run(program: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const text = `const { startCluster } = await import(${JSON.stringify(builtPackage)})\n${program}`
  const options = { encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' } as const
  return spawnSync(process.execPath, ['--input-type=module', '--eval', text], options)
}

/** Folders of volumes of a process. */
const volumeFolders = (pid: number): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`t8s-volumes-${pid}-`))

test('a cluster on its own thread', async (t) => {
  const folder = temporaryFolder(t)
  const lines: string[] = []
  let disposed: Cluster
  {
    await using cluster = await startCluster({ log: (line) => lines.push(line), runtimeConfig: ['batch/v9=true'] })
    disposed = cluster
    await t.test('answers kubectl while the program waits for it', () => {
      const file = join(folder, 'kubeconfig')
      writeFileSync(file, cluster.kubeconfigYaml, { mode: 0o600 })
      const kubectl = ['--kubeconfig', file, 'get', 'namespace', 'default', '-o', 'name']
      assert.equal(execFileSync('kubectl', kubectl, { encoding: 'utf8', timeout: 20_000 }), 'namespace/default\n')
    })
    await t.test('creates users, syncs, and logs in the words of options', async () => {
      const { kubeconfig } = await cluster.user({ name: 'jane', groups: ['dev'] })
      assert.equal(kubeconfig['current-context'], 'jane')
      await cluster.synced
      assert.ok(
        lines.some((line) => line.includes('batch/v9')),
        lines.join('\n'),
      )
    })
    await t.test('rejects with the errors of a start', () =>
      assert.rejects(
        startCluster({ port: cluster.port }),
        (error) => error instanceof ExplainedError && error.message.includes('choose another with `port`'),
      ),
    )
    await t.test('is not possible with plugins', () =>
      assert.rejects(
        startCluster({ thread: true, scheduler: { plugins: [{ name: 'mine', make: () => ({}) }] } }),
        /a cluster with plugins of the scheduler runs on the thread of the program: leave out the option thread/,
      ),
    )
  }
  await t.test('stops at the end of a block with `await using`', async () => {
    await assert.rejects(fetch(disposed.url), TypeError)
    await disposed.stop()
  })
})

test('a program that forgets stop() ends, and is warned', () => {
  const { status, stdout, stderr } = run(`
    const cluster = await startCluster()
    await cluster.synced
    console.log(cluster.url)`)
  assert.equal(status, 0, stderr)
  assert.ok(stderr.includes(`the cluster at ${stdout.trim()} was not stopped before the end of the program`), stderr)
})

test('the folder of volumes of a cluster in memory goes with the program', (t) => {
  const folder = temporaryFolder(t)
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
  }
  writeFileSync(join(folder, 'claim.json'), JSON.stringify(claim))
  const { status, stdout, stderr } = run(`
    import { execFileSync } from 'node:child_process'
    import { readdirSync, writeFileSync } from 'node:fs'
    const cluster = await startCluster({ nodes: 1 })
    await cluster.synced
    const file = ${JSON.stringify(join(folder, 'kubeconfig'))}
    writeFileSync(file, cluster.kubeconfigYaml)
    const kubectl = (...args) => execFileSync('kubectl', ['--kubeconfig', file, ...args])
    kubectl('apply', '-f', ${JSON.stringify(join(folder, 'claim.json'))})
    kubectl('wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=15s')
    const own = readdirSync(${JSON.stringify(tmpdir())}).filter((name) => name.startsWith('t8s-volumes-' + process.pid))
    console.log(process.pid, own.length)
    process.exit(7)`)
  assert.deepEqual({ status, stderr }, { status: 7, stderr: '' })
  const [pid, folders] = stdout.split(' ').map(Number)
  assert.equal(folders, 1)
  assert.deepEqual(volumeFolders(pid!), [])
})

test('a program that awaits a cluster does not end before it is ready', () => {
  const { status, stdout, stderr } = run(`
    await using cluster = await startCluster()
    await cluster.synced
    await cluster.user({ name: 'jane' })
    console.log('done')`)
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: 'done\n', stderr: '' })
})
