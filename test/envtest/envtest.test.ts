/** The launchers of `t8s envtest-assets`, driven as Go's envtest drives them. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { protocol } from '../../src/tools/envtest/launcher-script.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, repository, withoutKubectl } from '../up/t8s-process.ts'
import {
  answers,
  assets,
  type ControlPlane,
  freePort,
  isAlive,
  run,
  runtimeFile,
  sharedPid,
  startControlPlane,
  terminate,
} from './control-plane.ts'

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const configMaps = '/api/v1/namespaces/default/configmaps'

const names = async (t: TestContext, plane: ControlPlane): Promise<string[]> => {
  const { items } = await reachable(t, plane).call('GET', configMaps)
  return (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
}

test('accepts clients of the given authority only', { skip: withoutKubectl }, async (t) => {
  const plane = reachable(t, await startControlPlane(t, assets(t)))
  assert.equal(kubectl(plane.kubeconfigFile, 'get', 'namespace', 'default', '-o', 'name').stdout, 'namespace/default\n')
  assert.equal(
    kubectl(plane.kubeconfigFile, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}').stdout,
    'admin',
  )
  const stranger = await makeAuthority('stranger', new Date())
  const pair = await issueCertificate(
    stranger,
    { commonName: 'admin', organizations: ['system:masters'], usage: 'client' },
    new Date(),
  )
  await assert.rejects(reachable(t, { ...plane, client: { ...plane.client, ...pair } }).call('GET', configMaps), /401/)
})

test('the flags of envtest have an effect', async (t) => {
  const plane = reachable(t, await startControlPlane(t, assets(t)))
  const { issuer, id_token_signing_alg_values_supported } = await plane.call('GET', '/.well-known/openid-configuration')
  assert.deepEqual([issuer, id_token_signing_alg_values_supported], [`${plane.url}/`, ['ES256']])
  const { keys } = await plane.call('GET', '/openid/v1/jwks')
  const [{ kty, crv, alg }] = keys as [{ kty: string; crv: string; alg: string }]
  assert.deepEqual({ kty, crv, alg }, { kty: 'EC', crv: 'P-256', alg: 'ES256' })
  const { spec } = await plane.call('GET', '/api/v1/namespaces/default/services/kubernetes')
  assert.equal((spec as { clusterIP: string }).clusterIP, '10.0.0.1')
  // The ServiceAccount plugin is disabled.
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const created = await plane.call('POST', '/api/v1/namespaces/default/pods', pod)
  assert.equal((created.spec as { serviceAccountName?: string }).serviceAccountName, undefined)
})

test('SIGTERM ends the programs as upstream, and a second start in the same directory has the data', async (t) => {
  const binaries = assets(t)
  const first = await startControlPlane(t, binaries)
  await reachable(t, first).call('POST', configMaps, configMap('kept'))
  // An open watch is closed.
  const { ca, cert, key, url } = first.client
  const watch = get(`${url}${configMaps}?watch=1`, { ca, cert, key, agent: false })
  watch.on('error', () => {})
  const [response] = (await once(watch, 'response')) as [IncomingMessage]
  response.resume().on('error', () => {})
  const started = performance.now()
  assert.deepEqual(await terminate(first.apiServer), { code: 0, signal: null })
  assert.deepEqual(await terminate(first.etcd), { code: null, signal: 'SIGTERM' })
  assert.ok(performance.now() - started < 2000, 'a second for each')
  const second = await startControlPlane(t, binaries, { dataDir: first.dataDir })
  assert.deepEqual(await names(t, second), ['kept'])
  await second.stop()
})

test('without --unsafe-no-fsync, the data is on disk', async (t) => {
  const binaries = assets(t)
  const first = await startControlPlane(t, binaries, { etcdFlags: [] })
  await reachable(t, first).call('POST', configMaps, configMap('kept'))
  process.kill(sharedPid(binaries)!, 'SIGKILL')
  await Promise.all([first.apiServer.exited, first.etcd.exited])
  const second = await startControlPlane(t, binaries, { dataDir: first.dataDir, etcdFlags: [] })
  assert.deepEqual(await names(t, second), ['kept'])
})

test('a data directory can have one etcd at a time', async (t) => {
  const binaries = assets(t)
  const { dataDir } = await startControlPlane(t, binaries)
  const second = run(t, binaries, 'etcd', [
    `--data-dir=${dataDir}`,
    `--listen-client-urls=http://127.0.0.1:${await freePort()}`,
    '--unsafe-no-fsync',
  ])
  assert.deepEqual(await second.exited, { code: 1, signal: null })
  assert.match(second.output(), /is in use by/)
})

test('a restarted API server has the data of its etcd', async (t) => {
  const binaries = assets(t)
  const plane = await startControlPlane(t, binaries)
  await reachable(t, plane).call('POST', configMaps, configMap('kept'))
  await terminate(plane.apiServer)
  const restarted = run(t, binaries, 'kube-apiserver', plane.apiServer.process.spawnargs.slice(1))
  await waitFor('health', () => answers(`${plane.url}/healthz`))
  assert.deepEqual(await names(t, plane), ['kept'])
  await terminate(restarted)
})

test('twenty concurrent control planes share one process, but no data', async (t) => {
  const binaries = assets(t)
  const planes = await Promise.all(Array.from({ length: 20 }, () => startControlPlane(t, binaries)))
  const pid = sharedPid(binaries)
  assert.ok(pid && isAlive(pid))
  await Promise.all(planes.map((plane, i) => reachable(t, plane).call('POST', configMaps, configMap(`mine-${i}`))))
  const seen = await Promise.all(planes.map((plane) => names(t, plane)))
  assert.deepEqual(
    seen,
    planes.map((_, i) => [`mine-${i}`]),
  )
  const uids = await Promise.all(
    planes.map(async (plane) => (await reachable(t, plane).call('GET', '/api/v1/namespaces/default')).metadata.uid),
  )
  assert.equal(new Set(uids).size, planes.length)
  await Promise.all(planes.map((plane) => plane.stop()))
  await waitFor('the end of the shared process', () => !isAlive(pid))
})

test('killing a launcher ends only its own program', async (t) => {
  const binaries = assets(t)
  const [killed, other] = [await startControlPlane(t, binaries), await startControlPlane(t, binaries)]
  await reachable(t, killed).call('POST', configMaps, configMap('kept'))
  for (const { process: child } of [killed.apiServer, killed.etcd]) child.kill('SIGKILL')
  await waitFor(
    'closed ports',
    async () => !(await answers(`${killed.url}/healthz`)) && !(await answers(`${killed.etcdUrl}/health`)),
  )
  assert.ok(await answers(`${other.url}/healthz`))
  assert.deepEqual(await names(t, other), [])
  // Its data is still saved.
  const { dataDir } = killed
  await waitFor('data', () => existsSync(join(dataDir, 't8s-memory')) && !existsSync(join(dataDir, 'owner')))
  assert.deepEqual(await names(t, await startControlPlane(t, binaries, { dataDir })), ['kept'])
})

test('killing the shared process ends its launchers with a message, and the next ones start another', async (t) => {
  const binaries = assets(t)
  const plane = await startControlPlane(t, binaries)
  process.kill(sharedPid(binaries)!, 'SIGKILL')
  assert.deepEqual(await plane.apiServer.exited, { code: 1, signal: null })
  assert.deepEqual(await plane.etcd.exited, { code: 1, signal: null })
  assert.match(plane.apiServer.output(), /^kube-apiserver: the shared process has ended$/m)
  const next = await startControlPlane(t, binaries)
  assert.deepEqual(await names(t, next), [])
})

test('the shared process also ends after its directory was removed', async (t) => {
  const binaries = assets(t)
  const plane = await startControlPlane(t, binaries)
  const pid = sharedPid(binaries)!
  rmSync(binaries.env.T8S_ENVTEST_RUNTIME_DIR!, { recursive: true })
  await plane.stop()
  await waitFor('the end of the shared process', () => !isAlive(pid))
})

test('a launcher that is terminated before the shared process starts ends and removes its files', async (t) => {
  const binaries = assets(t)
  const build = readFileSync(join(repository, '.build/build-id'), 'utf8').trim()
  const directory = join(binaries.env.T8S_ENVTEST_RUNTIME_DIR!, `${build}-${protocol}`)
  mkdirSync(directory, { recursive: true })
  // As if this process were a launcher that is starting the shared process.
  writeFileSync(join(directory, 'starting'), `${process.pid}\n`)
  const etcd = run(t, binaries, 'etcd', [])
  await waitFor('its request', () => readdirSync(directory).some((name) => name.endsWith('.args')))
  assert.deepEqual(await terminate(etcd), { code: 143, signal: null })
  assert.deepEqual([etcd.output(), readdirSync(directory)], ['', ['starting']])
})

test('requests of dead launchers are removed', async (t) => {
  const binaries = assets(t)
  const first = await startControlPlane(t, binaries)
  const base = binaries.env.T8S_ENVTEST_RUNTIME_DIR!
  const directory = join(base, readdirSync(base)[0]!)
  const left = ['up', 'down'].map((name) => join(directory, `999999.${name}`))
  execFileSync('mkfifo', left)
  writeFileSync(join(directory, '999999.args'), ['etcd', '/', '--data-dir=/nowhere', 'end', ''].join('\0'))
  const second = await startControlPlane(t, binaries)
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('999999')),
    [],
  )
  await Promise.all([first.stop(), second.stop()])
})

test('with T8S_ENVTEST_SHARED=false, each program has its own process', async (t) => {
  const binaries = assets(t, { T8S_ENVTEST_SHARED: 'false' })
  const first = await startControlPlane(t, binaries)
  assert.equal(sharedPid(binaries), undefined)
  await reachable(t, first).call('POST', configMaps, configMap('kept'))
  assert.deepEqual(await terminate(first.apiServer), { code: 0, signal: null })
  assert.deepEqual(await terminate(first.etcd), { code: null, signal: 'SIGTERM' })
  // The shared process can read the data as well.
  const second = await startControlPlane(
    t,
    { ...binaries, env: { ...binaries.env, T8S_ENVTEST_SHARED: 'true' } },
    { dataDir: first.dataDir },
  )
  assert.deepEqual(await names(t, second), ['kept'])
})

test('--help lists flags in the format that envtest searches', (t) => {
  const { directory } = assets(t)
  const help = (program: string): string => {
    const { status, stdout, stderr } = spawnSync(join(directory, program), ['--help'], { encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
    return stdout
  }
  const found = (text: string, flag: string): boolean => new RegExp(`^\\s*--${flag}\\b`, 'm').test(text)
  const [etcd, apiServer] = [help('etcd'), help('kube-apiserver')]
  assert.ok(found(etcd, 'unsafe-no-fsync'))
  assert.match(etcd, /It only serves GET \/health and is not an etcd/)
  for (const flag of [
    'secure-port',
    'authorization-mode',
    'service-account-signing-key-file',
    'service-account-issuer',
    'enable-priority-and-fairness',
  ]) {
    assert.ok(found(apiServer, flag), flag)
  }
  // Removed in 1.24; envtest would set it.
  assert.ok(!found(apiServer, 'insecure-port'))
  for (const topic of ['Generic', 'Etcd', 'Secure serving', 'Authentication', 'API enablement', 'Misc', 'Global']) {
    assert.match(apiServer, new RegExp(`^${topic} flags:$`, 'm'))
  }
})

test('invalid flags are rejected with the messages of the upstream programs', async (t) => {
  const binaries = assets(t)
  const rejects = async (program: string, args: readonly string[], code: number, words: string): Promise<void> => {
    const started = run(t, binaries, program, args)
    assert.deepEqual(await started.exited, { code, signal: null }, started.output())
    assert.ok(started.output().includes(words), started.output())
  }
  await rejects(
    'kube-apiserver',
    ['--insecure-port=0'],
    1,
    'Error: unknown flag: --insecure-port: Kubernetes 1.24 removed it\n',
  )
  await rejects(
    'kube-apiserver',
    ['--secure-port=x'],
    1,
    'Error: invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax\n',
  )
  await rejects('etcd', ['--nonsense'], 2, 'flag provided but not defined: -nonsense\n')
  await rejects(
    'etcd',
    ['--unsafe-no-fsync=maybe'],
    2,
    'invalid boolean value "maybe" for -unsafe-no-fsync: parse error\n',
  )
})

test('launchers of another version fail with a remedy', async (t) => {
  const binaries = assets(t)
  const file = join(binaries.directory, 'etcd')
  writeFileSync(file, readFileSync(file, 'utf8').replace(`protocol=${protocol}`, 'protocol=0'))
  const started = run(t, binaries, 'etcd', [])
  assert.deepEqual(await started.exited, { code: 1, signal: null })
  assert.match(
    started.output(),
    /^these launchers were written by another version of Typernetes: run t8s envtest-assets again$/m,
  )
})

test('the etcd launcher only serves /health, and a server that is no etcd is rejected', async (t) => {
  const binaries = assets(t)
  const { etcdUrl } = await startControlPlane(t, binaries)
  const health = await fetch(`${etcdUrl}/health`)
  assert.deepEqual([health.status, await health.text()], [200, '{"health":"true","reason":""}'])
  for (const path of ['/version', '/metrics', '/v3/kv/range'])
    assert.equal((await fetch(`${etcdUrl}${path}`)).status, 404)

  const other = createServer((_, response) => response.end('{"health":"true"}')).listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const rejected = run(t, binaries, 'kube-apiserver', [`--etcd-servers=${url}`, '--cert-dir=/nowhere'])
  assert.deepEqual(await rejected.exited, { code: 1, signal: null })
  assert.ok(rejected.output().includes(`etcd at ${url} ended the connection`), rejected.output())
})

test('both programs can start concurrently', async (t) => {
  for (const shared of ['true', 'false']) {
    const binaries = assets(t, { T8S_ENVTEST_SHARED: shared })
    const folder = mkdtempSync(join(tmpdir(), 't8s-envtest-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const [etcdUrl, port] = [`http://127.0.0.1:${await freePort()}`, await freePort()]
    const flags = [
      `--etcd-servers=${etcdUrl}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${folder}`,
    ]
    const apiServer = run(t, binaries, 'kube-apiserver', flags)
    run(t, binaries, 'etcd', [`--data-dir=${folder}/etcd`, `--listen-client-urls=${etcdUrl}`, '--unsafe-no-fsync'])
    await waitFor('health', () => answers(`https://127.0.0.1:${port}/readyz`)).catch((error) =>
      assert.fail(`${error}: ${apiServer.output()}`),
    )
  }
})

test('relative paths are relative to the working directory of the launcher', async (t) => {
  const binaries = assets(t)
  const folder = mkdtempSync(join(tmpdir(), 't8s envtest '))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'a b'))
  const url = `http://127.0.0.1:${await freePort()}`
  const etcd = run(
    t,
    binaries,
    'etcd',
    ['--data-dir', 'a b', `--listen-client-urls=${url}`, '--unsafe-no-fsync'],
    folder,
  )
  await waitFor('health', () => answers(`${url}/health`))
  await terminate(etcd)
  assert.ok(existsSync(join(folder, 'a b/t8s-memory')))
})

test('a launcher that is terminated before it gets a response ends together with its program', async (t) => {
  const binaries = assets(t)
  const folder = mkdtempSync(join(tmpdir(), 't8s-envtest-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const url = `http://127.0.0.1:${await freePort()}`
  const etcd = run(t, binaries, 'etcd', [`--data-dir=${folder}`, `--listen-client-urls=${url}`, '--unsafe-no-fsync'])
  // The shared process has started, but does not serve yet.
  await waitFor('the log of the shared process', () => runtimeFile(binaries, 'log'), { everyMs: 1 })
  etcd.process.kill('SIGSTOP')
  await waitFor('health', () => answers(`${url}/health`))
  const ended = terminate(etcd)
  etcd.process.kill('SIGCONT')
  assert.deepEqual(await ended, { code: 143, signal: null })
  await waitFor('the end of the program', async () => !(await answers(`${url}/health`)))
})

test('a directory of another user is not used', {
  skip: process.getuid?.() !== 0 && 'only root can give directories away',
}, async (t) => {
  const binaries = assets(t)
  const base = binaries.env.T8S_ENVTEST_RUNTIME_DIR!
  mkdirSync(base)
  execFileSync('chown', ['65534', base])
  const plane = await startControlPlane(t, binaries)
  assert.deepEqual(
    readdirSync(base).flatMap((name) => readdirSync(join(base, name))),
    [],
  )
  await plane.stop()
})
