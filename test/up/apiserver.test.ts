/** Tests of `t8s apiserver`: the effects of kube-apiserver's flags. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { repository, t8s, temporaryFolder } from './t8s-process.ts'

interface Server {
  readonly folder: string
  readonly output: () => string
  /** Returns the response to a request with a token of a member of system:masters, or without one. */
  call(
    method: string,
    path: string,
    body?: object,
    token?: string | null,
  ): Promise<{ status: number; body: Readonly<Record<string, unknown>> }>
  stop(): Promise<number | null>
}

/** Starts it in `folder` with a token file; resolves when it is ready. */
async function apiserver(t: TestContext, args: readonly string[], folder = temporaryFolder(t)): Promise<Server> {
  writeFileSync(join(folder, 'tokens'), 's3cret,admin,1,"system:masters"\nother,jane,2\n')
  const child = spawn(
    join(repository, 't8s'),
    ['apiserver', '--secure-port=0', '--bind-address=127.0.0.1', '--token-auth-file=tokens', ...args],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>()
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
    const [, url] = /^serving on (\S+)$/m.exec(output) ?? []
    if (url) resolve(url)
  })
  const exited = once(child, 'close').then(([code]: (number | null)[]) => {
    reject(new Error(`t8s apiserver ended with ${code}:\n${output}`))
    return code ?? null
  })
  const url = await ready
  return {
    folder,
    output: () => output,
    async call(method, path, body, token = 's3cret') {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
      const sent = request(new URL(path, url), { method, headers, rejectUnauthorized: false, agent: false })
      const [response] = (await once(sent.end(body && JSON.stringify(body)), 'response')) as [IncomingMessage]
      const text = Buffer.concat(await response.toArray()).toString()
      return { status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : {} }
    },
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
}

test('certificates in --cert-dir and data are reused after a restart', async (t) => {
  const first = await apiserver(t, ['--cert-dir=certs', '--data-dir=data'])
  const files = ['certs/apiserver.crt', 'certs/apiserver.key'].map((name) => join(first.folder, name))
  assert.equal(statSync(files[1]!).mode & 0o777, 0o600)
  assert.equal((await first.call('POST', '/api/v1/namespaces', { metadata: { name: 'kept' } })).status, 201)
  const before = files.map((file) => readFileSync(file, 'utf8'))
  assert.equal(await first.stop(), 0)
  // It has no administrator.
  assert.ok(!existsSync(join(first.folder, 'data/kubeconfig')))
  const second = await apiserver(t, ['--cert-dir=certs', '--data-dir=data'], first.folder)
  assert.equal((await second.call('GET', '/api/v1/namespaces/kept')).status, 200)
  assert.deepEqual(
    files.map((file) => readFileSync(file, 'utf8')),
    before,
  )
  assert.equal(await second.stop(), 0)
})

test('flags of services, admission and APIs take effect', async (t) => {
  const server = await apiserver(t, [
    '--service-cluster-ip-range=10.9.0.0/24',
    '--service-node-port-range=31000-31001',
    '--advertise-address=192.0.2.7',
    '--disable-admission-plugins=ServiceAccount',
    '--default-not-ready-toleration-seconds=7',
    '--runtime-config=batch/v1=false',
    '--kubelet-timeout=5s',
  ])
  assert.match(server.output(), /^--kubelet-timeout changes nothing here: /m)
  const kubernetes = await server.call('GET', '/api/v1/namespaces/default/endpoints/kubernetes')
  const [{ addresses }] = kubernetes.body.subsets as [{ addresses: object }]
  assert.deepEqual(addresses, [{ ip: '192.0.2.7' }])
  const ports = { type: 'NodePort', ports: [{ port: 80 }] }
  const { body } = await server.call('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 's' },
    spec: ports,
  })
  const { clusterIP, ports: given } = body.spec as { clusterIP: string; ports: [{ nodePort: number }] }
  assert.match(clusterIP, /^10\.9\.0\./)
  assert.ok([31000, 31001].includes(given[0].nodePort))
  const { spec } = (await server.call('POST', '/api/v1/namespaces/default/pods', pod)).body as {
    spec: { serviceAccountName?: string; tolerations: [{ tolerationSeconds: number }, { tolerationSeconds: number }] }
  }
  assert.equal(spec.serviceAccountName, undefined)
  assert.deepEqual(
    spec.tolerations.map(({ tolerationSeconds }) => tolerationSeconds),
    [7, 300],
  )
  assert.equal((await server.call('GET', '/apis/batch/v1')).status, 404)
})

test('--external-hostname, --admission-control and --endpoint-reconciler-type take effect', async (t) => {
  const server = await apiserver(t, [
    '--external-hostname=api.example.com',
    '--admission-control=NamespaceLifecycle,AlwaysDeny',
    '--endpoint-reconciler-type=none',
  ])
  const { body } = await server.call('GET', '/api')
  const [{ serverAddress }] = body.serverAddressByClientCIDRs as [{ serverAddress: string }]
  assert.match(serverAddress, /^api\.example\.com:\d+$/)
  const keys = await server.call('GET', '/.well-known/openid-configuration')
  assert.equal(keys.body.jwks_uri, `https://${serverAddress}/openid/v1/jwks`)
  assert.equal((await server.call('GET', '/api/v1/namespaces/default/endpoints/kubernetes')).status, 404)
  const { status, body: refused } = await server.call('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'c' },
  })
  assert.deepEqual(
    [status, refused.message],
    [403, 'configmaps "c" is forbidden: admission control is denying all modifications'],
  )
})

test('flags of authentication and authorization take effect', async (t) => {
  const usual = await apiserver(t, ['--authorization-mode=Node,RBAC'])
  assert.equal((await usual.call('GET', '/healthz', undefined, null)).status, 200)
  assert.equal((await usual.call('GET', '/api/v1/pods', undefined, null)).status, 403)
  assert.equal((await usual.call('GET', '/api/v1/pods', undefined, 'other')).status, 403)
  assert.equal((await usual.call('GET', '/apis', undefined, 'other')).status, 200)
  assert.equal((await usual.call('GET', '/api/v1/pods')).status, 200)
  const closed = await apiserver(t, ['--anonymous-auth=false'])
  assert.equal((await closed.call('GET', '/healthz', undefined, null)).status, 401)
  assert.equal((await closed.call('GET', '/healthz')).status, 200)
  // As upstream: AlwaysAllow turns anonymous requests off.
  const open = await apiserver(t, ['--authorization-mode=AlwaysAllow'])
  assert.equal((await open.call('GET', '/api/v1/pods', undefined, null)).status, 401)
  assert.equal((await open.call('GET', '/api/v1/pods', undefined, 'other')).status, 200)
  const shut = await apiserver(t, ['--authorization-mode=AlwaysDeny'])
  assert.equal((await shut.call('GET', '/api/v1/pods', undefined, 'other')).status, 403)
  assert.equal((await shut.call('GET', '/api/v1/pods')).status, 200)
})

test('after SIGTERM the server is unready and serves for --shutdown-delay-duration', async (t) => {
  const server = await apiserver(t, ['--shutdown-delay-duration=2s'])
  assert.equal((await server.call('GET', '/readyz')).status, 200)
  const started = performance.now()
  const stopped = server.stop()
  await waitFor('being unready', async () => (await server.call('GET', '/readyz')).status === 500)
  assert.equal((await server.call('GET', '/livez')).status, 200)
  assert.equal(await stopped, 0)
  assert.ok(performance.now() - started >= 2000)
})

test('invalid flags are errors of one sentence', () => {
  const refused = (...args: readonly string[]): string => {
    const { code, stderr } = t8s(['apiserver', '--data-dir=/dev/null/none', ...args])
    assert.equal(code, 1)
    return stderr
  }
  assert.equal(refused('--nonsense'), 'Error: unknown flag: --nonsense\n')
  assert.equal(refused('--feature-gates=Nonsense=true'), 'Error: unrecognized feature gate: Nonsense\n')
  assert.equal(
    refused('--feature-gates=kube:ImageVolume=false'),
    'Error: cannot set feature gate ImageVolume to false, feature is locked to true\n',
  )
  assert.match(refused(), /^Error: cannot store data in \/dev\/null\/none: /)
  assert.match(
    refused('--etcd-servers=ftp://127.0.0.1:2379'),
    /^Error: --etcd-servers ftp:\/\/127\.0\.0\.1:2379 is not a URL/,
  )
})

test('all invalid values are listed in one error', async (t) => {
  const folder = temporaryFolder(t)
  const { code, stderr } = t8s(
    ['apiserver', '--authorization-mode=Magic', '--disable-admission-plugins=Nonsense', '--secure-port=70000'],
    { cwd: folder },
  )
  assert.equal(code, 1)
  assert.equal(
    stderr,
    'Error: [--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0, ' +
      'authorization-mode "Magic" is not a valid mode, disable-admission-plugins plugin "Nonsense" is unknown]\n',
  )
})

test('--version and --help print without starting the server', () => {
  assert.match(t8s(['apiserver', '--version']).stdout, /^Kubernetes v1\.36\.2\+t8s\./)
  const { code, stdout } = t8s(['apiserver', '--help'])
  assert.equal(code, 0)
  assert.match(stdout, /^Secure serving flags:$/m)
  assert.match(t8s(['--help']).stdout, /^ {2}apiserver /m)
})
