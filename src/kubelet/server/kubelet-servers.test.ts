/** The pages of a kubelet's servers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerSchema, ExecSyncResponseSchema } from '#protobuf/cri-runtime_pb.js'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { Verbosity } from '../../lib/log/verbosity.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { strictRules } from '../../node/server/access.ts'
import { selfSigned } from '../credentials/key-pair.ts'
import type { Pod } from '../pod-types.ts'
import { KubeletServers, type KubeletServersOptions } from './kubelet-servers.ts'
import { Health, syncLoopCheck } from './pages/health.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'app', image: 'nginx' }] },
}

const labels = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.uid': 'u',
  'io.kubernetes.container.name': 'app',
}

/** The users of tokens, and the subresources of nodes that they may use. */
const rights: Readonly<Record<string, readonly string[]>> = { admin: ['*'], reader: ['pods', 'stats'] }

const reviews = {
  async create(_resource: unknown, { kind, spec }: { kind: string; spec: Review }) {
    if (kind === 'TokenReview')
      return { status: { authenticated: Object.hasOwn(rights, spec.token ?? ''), user: { username: spec.token } } }
    const { user = '', resourceAttributes } = spec
    const allowed = rights[user]?.includes('*') || rights[user]?.includes(resourceAttributes?.subresource ?? '')
    return { status: { allowed: allowed === true } }
  },
} as unknown as RestClient

interface Review {
  readonly token?: string
  readonly user?: string
  readonly resourceAttributes?: { readonly subresource: string }
}

const unused = () => Promise.reject(new Error('not used'))

/** A runtime with one running container, whose commands print their words. */
const fakeRuntime: KubeletServersOptions['runtime'] = {
  containers: async () => [create(ContainerSchema, { id: 'c', labels, image: { image: 'nginx' } })],
  sandboxes: async () => [],
  containerStatus: async () => undefined,
  exec: async (_id, cmd) =>
    create(ExecSyncResponseSchema, {
      stdout: Buffer.from(cmd.join('|')),
      exitCode: cmd[0] === 'false' ? 1 : 0,
      stderr: Buffer.from('!'),
    }),
  checkpoint: async (_id, location) => writeFileSync(location, ''),
  execUrl: unused,
  attachUrl: unused,
  portForwardUrl: unused,
}

const fakeStats: KubeletServersOptions['stats'] = {
  summary: async (onlyCpuAndMemory) => ({ onlyCpuAndMemory }),
  resourceMetrics: async () => 'resource 1\n',
  cadvisorMetrics: async () => 'cadvisor 1\n',
}

const everything = { debugging: true, systemLogs: true, debugFlags: true, profiling: true }

const usual = {
  healthz: { address: '127.0.0.1', port: 0 },
  readOnlyPort: 0,
  access: strictRules,
  reviewTimes: { tokenMs: 0, allowedMs: 0, deniedMs: 0 },
  tlsLimits: {},
  hasCore: true,
  verbosity: new Verbosity(0, () => {}),
} as const

async function setUp(t: TestContext, changes: Partial<KubeletServersOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-server-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const registry = new MetricsRegistry()
  const clock = { now: 1_000_000, synced: 1_000_000, verbosity: 0 }
  const health = new Health(
    [
      syncLoopCheck(
        () => clock.synced,
        60_000,
        () => clock.now,
      ),
    ],
    () => {},
  )
  const servers = new KubeletServers({
    client: reviews,
    address: '127.0.0.1',
    port: 0,
    tls: await selfSigned('node-1', [], new Date()),
    clientCA: '',
    ...usual,
    registry,
    nodeName: 'node-1',
    runtimeName: 'containerd',
    pods: { all: () => [pod], mirrors: () => [], statusOf: () => undefined, staticPodOf: () => undefined },
    runtime: fakeRuntime,
    health,
    stats: fakeStats,
    metrics: () => `kubelet 1\n${registry.render()}`,
    probeMetrics: () => 'probes 1\n',
    configuration: () => ({ port: 10250 }),
    setVerbosity: (level) => void (clock.verbosity = level),
    checkpointFolder: join(folder, 'checkpoints'),
    systemLogFolder: join(folder, 'log'),
    logRoots: [folder],
    profile: ({ path }) => (path === '/debug/pprof/heap' ? Promise.resolve({ type: 'x', text: 'heap' }) : undefined),
    enabled: everything,
    redirects: false,
    log: () => {},
    now: () => clock.now,
    ...changes,
  })
  const ports = await servers.listen()
  t.after(() => servers.close())
  const core = async (path: string, { token = 'admin', method = 'GET', body = '' } = {}): Promise<string> => {
    const headers = token ? { authorization: `Bearer ${token}` } : {}
    const options = { host: '127.0.0.1', port: ports.core, rejectUnauthorized: false, agent: false as const }
    const [response] = (await once(request({ ...options, path, method, headers }).end(body), 'response')) as [
      IncomingMessage,
    ]
    return `${response.statusCode} ${Buffer.concat(await response.toArray())}`
  }
  const plain = async (port: number | undefined, path: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return `${response.status} ${await response.text()}`
  }
  return { folder, clock, core, ports, plain }
}

test('clients without credentials get 401, and those without rights 403', async (t) => {
  const { core } = await setUp(t)
  for (const path of ['/healthz', '/pods', '/exec/default/web/app', '/containerLogs/default/none/app', '/nothing'])
    for (const token of ['', 'unknown']) assert.equal(await core(path, { token }), '401 Unauthorized', path)
  assert.match(await core('/pods', { token: 'reader' }), /^200 /)
  assert.equal(
    await core('/containerLogs/default/none/app', { token: 'reader' }),
    '403 Forbidden (user=reader, verb=get, resource=nodes, subresource(s)=[proxy])',
  )
  assert.equal(
    await core('/configz', { token: 'reader' }),
    '403 Forbidden (user=reader, verb=get, resource=nodes, subresource(s)=[configz proxy])',
  )
})

test('anonymous users are accepted and authorized only if the configuration says so', async (t) => {
  const open = await setUp(t, { access: { ...strictRules, acceptsAnonymous: true } })
  assert.equal(
    await open.core('/pods', { token: '' }),
    '403 Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[pods proxy])',
  )
  assert.equal(await open.core('/pods', { token: 'unknown' }), '401 Unauthorized')
  const always = await setUp(t, { access: { acceptsAnonymous: true, acceptsTokens: false, authorizes: false } })
  assert.match(await always.core('/pods', { token: '' }), /^200 /)
  const certificates = await setUp(t, { access: { ...strictRules, acceptsTokens: false } })
  assert.equal(await certificates.core('/pods', { token: 'admin' }), '401 Unauthorized')
})

test('the core server has all pages', async (t) => {
  const { core, clock, folder } = await setUp(t)
  assert.equal(await core('/healthz'), '200 ok')
  assert.equal(await core('/configz'), '200 {"kubeletconfig":{"port":10250}}')
  assert.equal(await core('/stats/summary?only_cpu_and_memory=true'), '200 {"onlyCpuAndMemory":true}')
  assert.equal(await core('/metrics/resource'), '200 resource 1\n')
  assert.equal(await core('/metrics/cadvisor'), '200 cadvisor 1\n')
  assert.equal(await core('/metrics/probes'), '200 probes 1\n')
  assert.match(
    await core('/metrics'),
    /kubelet_http_requests_total\{long_running="false",.*path="metrics\/cadvisor",server_type="readwrite"\} /,
  )
  assert.equal(JSON.parse((await core('/pods')).slice(4)).items[0].metadata.name, 'web')
  assert.deepEqual(JSON.parse((await core('/runningpods/')).slice(4)).items[0].spec, {
    containers: [{ name: 'app', image: 'nginx', resources: {} }],
  })
  assert.equal(await core('/run/default/web/app?cmd=echo%20a', { method: 'POST' }), '200 echo|a!')
  assert.equal(await core('/run/default/web/app?cmd=false', { method: 'POST' }), "500 command 'false' exited with 1: !")
  assert.equal(await core('/run/default/none/app?cmd=a', { method: 'POST' }), '404 pod does not exist')
  assert.equal(
    await core('/debug/flags/v', { method: 'PUT', body: '4' }),
    '200 successfully set klog.logging.verbosity to 4',
  )
  assert.equal(clock.verbosity, 4)
  assert.match(await core('/debug/flags/v', { method: 'PUT', body: 'x' }), /^400 failed set klog.logging.verbosity x: /)
  const [, file] = /^200 \{"items":\["(.*)"\]\}$/.exec(await core('/checkpoint/default/web/app', { method: 'POST' }))!
  assert.ok(file!.startsWith(join(folder, 'checkpoints/checkpoint-web_default-app-')) && existsSync(file!))
  assert.equal(await core('/checkpoint/default/web/none', { method: 'POST' }), '404 container none does not exist')
  assert.equal(await core('/exec/default/web/app'), '500 Upgrade request required')
  assert.equal(await core('/nothing'), '404 404 page not found\n')
})

test("logs are found in upstream's order", async (t) => {
  const { core } = await setUp(t)
  assert.equal(await core('/containerLogs/default/none/app'), '404 pod "none" does not exist')
  assert.equal(await core('/containerLogs/default/web/none'), '404 container "none" not found in pod "web"')
  assert.equal(await core('/containerLogs/default/web/app'), '400 container "app" in pod "web" is not available')
})

test('debugging that is turned off is answered with 405', async (t) => {
  const { core } = await setUp(t, { enabled: { ...everything, debugging: false } })
  for (const path of [
    ...['/run/a/b/c', '/exec/a/b/c', '/containerLogs/a/b/c', '/configz', '/runningpods/'],
    ...['/debug/pprof/', '/debug/pprof/heap'],
  ])
    assert.equal(await core(path), '405 Debug endpoints are disabled.\n', path)
  assert.equal(await core('/logs/'), '405 logs endpoint is disabled.\n')
  assert.equal(await core('/debug/flags/v'), '405 flags endpoint is disabled.\n')
  assert.match(await core('/pods'), /^200 /)
})

test('profiles can be turned off alone', async (t) => {
  const { core } = await setUp(t)
  assert.equal(await core('/debug/pprof/heap'), '200 heap')
  assert.equal(await core('/debug/pprof/none'), '404 404 page not found\n')
  const off = await setUp(t, { enabled: { ...everything, profiling: false } })
  assert.equal(await off.core('/debug/pprof/heap'), '405 profiling endpoint is disabled.\n')
  assert.match(await off.core('/configz'), /^200 /)
})

test('the sync loop is unhealthy when it has not run for five minutes', async (t) => {
  const { core, plain, ports, clock } = await setUp(t)
  clock.now += 299_000
  assert.equal(await plain(ports.healthz, '/healthz'), '200 ok')
  clock.now += 2_000
  const failed = '500 [+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n'
  assert.equal(await plain(ports.healthz, '/healthz'), failed)
  assert.equal(await core('/healthz/syncloop'), '500 internal server error: sync Loop took longer than expected\n')
  assert.equal(await plain(ports.healthz, '/healthz/ping'), '200 ok')
  assert.equal(await plain(ports.healthz, '/pods'), '404 404 page not found\n')
})

test('the read-only server has the default pages only', async (t) => {
  const { plain, ports } = await setUp(t)
  assert.match(await plain(ports.readOnly, '/pods'), /^200 /)
  assert.equal(await plain(ports.readOnly, '/metrics/resource'), '200 resource 1\n')
  for (const path of ['/configz', '/runningpods/', '/logs/', '/run/default/web/app'])
    assert.equal(await plain(ports.readOnly, path), '404 404 page not found\n', path)
})

test("the node's logs are listed, and links out of them are not followed", async (t) => {
  const { core, folder } = await setUp(t)
  mkdirSync(join(folder, 'log/sub'), { recursive: true })
  writeFileSync(join(folder, 'log/sys log'), 'line\n')
  symlinkSync('/etc', join(folder, 'log/etc'))
  symlinkSync('sys log', join(folder, 'log/link'))
  assert.match(
    await core('/logs/'),
    /<pre>\n<a href="etc">etc<\/a>\n<a href="link">link<\/a>\n<a href="sub\/">sub\/<\/a>\n/,
  )
  assert.equal(await core('/logs/sys%20log'), '200 line\n')
  assert.equal(await core('/logs/link'), '200 line\n')
  for (const path of ['/logs/etc/passwd', '/logs/..%2f..%2fetc/passwd', '/logs/../../etc/passwd', '/logs/none'])
    assert.match(await core(path), /^404 /, path)
})
