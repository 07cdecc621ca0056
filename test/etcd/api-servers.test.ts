/** Two `t8s apiserver` on one etcd, with kubectl as client. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import { prefixRange } from '../../src/storage/store.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { installedKubectls } from '../support/kubectl.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository, temporaryFolder } from '../up/t8s-process.ts'

const run = promisify(execFile)
const [newest] = installedKubectls()

/** Starts an API server; returns its URL and a client. */
async function apiServer(t: TestContext, servers: readonly string[], args: readonly string[] = []) {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'tokens'), 's3cret,admin,1,"system:masters"\n')
  const flags = ['--secure-port=0', '--bind-address=127.0.0.1', '--token-auth-file=tokens', '--cert-dir=certs', ...args]
  const child = spawn(join(repository, 't8s'), ['apiserver', `--etcd-servers=${servers.join(',')}`, ...flags], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const url = await waitFor('the server', () => {
    assert.equal(child.exitCode, null, output)
    return /^serving on (\S+)$/m.exec(output)?.[1]
  })
  const { path } = newest!
  const client = ['--server', url, '--insecure-skip-tls-verify', '--token=s3cret', '--cache-dir', join(folder, 'cache')]
  return {
    output: () => output,
    kubectl: async (...args: readonly string[]) => (await run(path, [...client, ...args])).stdout,
  }
}

const skip = withoutEtcd || (!newest && 'kubectl is not installed')

test('a write through one server is seen by reads and watches of the other', { skip }, async (t) => {
  const servers = startEtcd(t).map(({ url }) => url)
  const [a, b] = await Promise.all([apiServer(t, servers), apiServer(t, servers)])
  await a.kubectl('create', 'configmap', 'shared', '--from-literal=x=1')
  assert.equal(await b.kubectl('get', 'configmap', 'shared', '-o', 'jsonpath={.data.x}'), '1')
  const waiting = a.kubectl('wait', 'configmap/shared', '--for=jsonpath={.data.x}=2', '--timeout=30s')
  await b.kubectl('patch', 'configmap', 'shared', '-p', '{"data":{"x":"2"}}')
  assert.match(await waiting, /condition met/)
  assert.match(await a.kubectl('get', 'configmaps', '-o', 'name'), /configmap\/shared/)
})

test('a server is unready while etcd hangs or has ended, and recovers by itself', { skip }, async (t) => {
  const [member] = startEtcd(t)
  const server = await apiServer(t, [member!.url])
  await server.kubectl('create', 'configmap', 'one')
  const isReady = () =>
    server.kubectl('get', '--raw', '/readyz').then(
      () => true,
      () => false,
    )
  await waitFor('readiness', isReady)
  for (const [down, up] of [
    [() => member!.signal('SIGSTOP'), () => member!.signal('SIGCONT')],
    [() => member!.kill(), () => member!.start()],
  ] as const) {
    await down()
    await waitFor('unreadiness', async () => !(await isReady()))
    await up()
    await waitFor('readiness', isReady)
  }
  await server.kubectl('create', 'configmap', 'two')
  assert.match(server.output(), /is not reachable|did not answer|refuses connections/)
  await waitFor('the end of the problem in the log', () => server.output().includes('the store can write again'))
})

test('--etcd-prefix is the prefix of all keys', { skip }, async (t) => {
  const [member] = startEtcd(t)
  const server = await apiServer(t, [member!.url], ['--etcd-prefix=/kubernetes.io'])
  await server.kubectl('create', 'configmap', 'one')
  const { stdout } = await run('etcdctl', [`--endpoints=${member!.url}`, 'get', '', '--from-key', '--keys-only'], {
    env: { ...process.env, ETCDCTL_API: '3' },
  })
  const keys = stdout.split('\n').filter((key) => key !== '')
  assert.ok(keys.includes('/kubernetes.io/configmaps/default/one'), stdout)
  assert.deepEqual(
    keys.filter((key) => !key.startsWith('/kubernetes.io/')),
    [],
  )
})

test('resources of --etcd-servers-overrides are in an etcd of their own', { skip }, async (t) => {
  const [common, other] = [startEtcd(t)[0]!.url, startEtcd(t)[0]!.url]
  const overrides = `--etcd-servers-overrides=/events#${other},coordination.k8s.io/leases#${other}`
  const server = await apiServer(t, [common], [overrides])
  await server.kubectl('create', 'configmap', 'here', '--from-literal=x=1')
  const event = '{"metadata":{"name":"there"},"involvedObject":{"namespace":"default","name":"x","kind":"Pod"}}'
  const path = '/api/v1/namespaces/default/events'
  const file = join(temporaryFolder(t), 'event.json')
  writeFileSync(file, event)
  await server.kubectl('create', '--raw', path, '-f', file)
  const waiting = server.kubectl('wait', 'event/there', '--for=delete', '--timeout=30s')
  const keysOf = async (url: string): Promise<string[]> => {
    const store = await openEtcdStore({ servers: [url], compactionMs: 0 })
    const { entries } = await store.list(prefixRange('/registry/'))
    await store.close()
    return entries.map(({ key }) => key)
  }
  assert.ok((await keysOf(other)).includes('/registry/events/default/there'))
  assert.ok((await keysOf(other)).some((key) => key.startsWith('/registry/leases/kube-system/apiserver-')))
  const others = ['/registry/events/', '/registry/leases/']
  const commonKeys = await keysOf(common)
  assert.ok(commonKeys.includes('/registry/configmaps/default/here'))
  assert.ok(!commonKeys.some((key) => others.some((prefix) => key.startsWith(prefix))))
  assert.match(await server.kubectl('get', '--raw', '/readyz?verbose'), /etcd-override-0 ok.*override-readiness-0 ok/s)
  assert.match(await server.kubectl('get', 'events', '--output=name'), /event\/there/)
  await server.kubectl('delete', 'event', 'there')
  assert.match(await waiting, /condition met/)
})
