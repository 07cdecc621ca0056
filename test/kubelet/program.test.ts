/** `t8s kubelet` as a program: from a bootstrap token to a node on a container runtime, and who may reach it. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { connectTo } from '../../src/client/connection/connect-to.ts'
import { events, nodes, pods, secrets } from '../../src/client/kinds.ts'
import type { RestClient } from '../../src/client/rest/rest-client.ts'
import { StatusError } from '../../src/machinery/status-error.ts'
import { clientFor } from '../support/client-for.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { approveServing, bootstrapKubeconfig, bootstrapToken } from './support/bootstrap.ts'
import { type CredentialProvider, writeCredentialProvider } from './support/credential-provider.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { kernelParameters, ownKernelParameters } from './support/kernel-parameters.ts'
import { registryHost, registryLogin, startRegistry } from './support/registry.ts'
import { type NodeRuntime, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { cgroupRootOf } from './support/runtimes/runtime-process.ts'
import { isRunning, sleeper } from './support/test-node.ts'

const run = promisify(execFile)
const program = join(import.meta.dirname, '../../t8s')

/** Starts the program; resolves with its port when it serves. */
async function startProgram(
  root: string,
  cluster: TestCluster,
  nodeRuntime: NodeRuntime,
  lifetime: Lifetime,
  flags: readonly string[],
) {
  const lines: string[] = []
  const kubeconfig = join(root, 'kubelet.conf')
  ownKernelParameters(root)
  writeFileSync(join(root, 'ca.crt'), cluster.client.ca ?? '')
  const child = spawn(program, [
    'kubelet',
    `--bootstrap-kubeconfig=${await bootstrapKubeconfig(cluster)}`,
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${join(root, 'kubelet')}`,
    `--pod-logs-dir=${join(root, 'logs')}`,
    `--client-ca-file=${join(root, 'ca.crt')}`,
    `--container-runtime-endpoint=${nodeRuntime.endpoint}`,
    `--cgroup-root=${cgroupRootOf(nodeRuntime.endpoint)}`,
    '--hostname-override=n1',
    '--node-ip=10.88.0.1',
    '--address=0.0.0.0',
    '--port=0',
    '--healthz-port=0',
    '--rotate-certificates',
    '--rotate-server-certificates',
    '--fail-swap-on=false',
    '--hairpin-mode=none',
    '--max-pods=20',
    '--redirect-container-streaming',
    '--v=4',
    ...flags,
  ])
  const exited = once(child, 'exit')
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void lines.push(...text.split('\n')))
  lifetime.after(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const port = await waitFor('the kubelet serves', () => {
    if (child.exitCode !== null) throw new Error(lines.join('\n'))
    return Number(/node n1 serves on port (\d+)/.exec(lines.join('\n'))?.[1] ?? 0) || undefined
  })
  return { port, lines, kubeconfig, pki: join(root, 'kubelet/pki') }
}

/** The status and the location that answer a client who wants to run a command over SPDY. */
async function redirectionOf(port: number, path: string, { cert, key }: Access): Promise<string> {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
  const sent = request({ host: '127.0.0.1', port, path, headers, cert, key, rejectUnauthorized: false, agent: false })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return `${response.statusCode} ${response.headers.location}`
}

interface Access {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

async function get(port: number, path: string, { token, cert, key }: Access = {}, method = 'GET', body = '') {
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const options = { host: '127.0.0.1', port, path, method, headers, cert, key, rejectUnauthorized: false }
  const sent = request({ ...options, agent: false }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return `${response.statusCode} ${Buffer.concat(await response.toArray())}`
}

/** The answer to a client in the network of a pod. */
async function fromPod(port: number, token: string): Promise<string> {
  const program = `
    const headers = ${JSON.stringify(token ? { authorization: `Bearer ${token}` } : {})}
    const options = { host: '10.88.0.1', port: ${port}, path: '/pods', headers, rejectUnauthorized: false }
    require('node:https').get(options, (response) => {
      process.stdout.write(response.statusCode + ' ')
      response.pipe(process.stdout)
    })`
  const { stdout } = await run('nsenter', ['-t', podProcess(), '-n', process.execPath, '-e', program])
  return stdout
}

/** A process in the network of a pod. This process sees only those of its own namespace. */
function podProcess(): string {
  const network = (pid: string): string => readlinkSync(`/proc/${pid}/ns/net`)
  const found = readdirSync('/proc').find((pid) => {
    try {
      const isPod = readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep\0')
      return isPod && network(pid) !== network('self')
    } catch {
      return false
    }
  })
  assert.ok(found, 'a pod has a process')
  return found
}

/** True for the processes of containers and sandboxes. */
function isSleeper(pid: string): boolean {
  try {
    return /^(\/bin\/)?sleep\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    return false
  }
}

const codeOf = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error) => (error instanceof StatusError ? error.code : 0),
  )

const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  stringData: { password: `${name}-hunter2` },
})

/** Everything that the tests share. */
interface Node {
  readonly cluster: TestCluster
  readonly client: RestClient
  readonly root: string
  readonly kubelet: Awaited<ReturnType<typeof startProgram>>
  readonly administrator: Access
  readonly provider: CredentialProvider
}

/** Certificates of the client and of the server. */
function defineCredentialTests({ cluster, root, kubelet, administrator }: Node): void {
  test('a bootstrap token becomes a client certificate that openssl verifies', async () => {
    const { stdout } = await run('openssl', [
      ...['verify', '-CAfile', join(root, 'ca.crt'), '-purpose', 'sslclient'],
      join(kubelet.pki, 'kubelet-client-current.pem'),
    ])
    assert.match(stdout, /: OK\n$/)
    const subject = await run('openssl', [
      ...['x509', '-noout', '-subject', '-in', join(kubelet.pki, 'kubelet-client-current.pem')],
    ])
    assert.match(subject.stdout, /O ?= ?system:nodes, CN ?= ?system:node:n1/)
    for (const file of readdirSync(kubelet.pki).filter((name) => name.endsWith('.pem') || name.endsWith('.key')))
      assert.equal(statSync(join(kubelet.pki, file)).mode & 0o777, 0o600, file)
    assert.equal(statSync(kubelet.kubeconfig).mode & 0o777, 0o600)
    assert.ok(!readFileSync(kubelet.kubeconfig, 'utf8').includes('KEY'))
  })

  test('there are no connections before a serving certificate, and openssl verifies the approved one', async () => {
    await assert.rejects(get(kubelet.port, '/healthz', administrator))
    await approveServing(cluster)
    await waitFor('the kubelet has a serving certificate', () =>
      get(kubelet.port, '/healthz', administrator).then(
        (answer) => answer === '200 ok',
        () => false,
      ),
    )
    const { stdout } = await run('openssl', [
      ...['verify', '-CAfile', join(root, 'ca.crt'), '-purpose', 'sslserver', '-verify_ip', '10.88.0.1'],
      join(kubelet.pki, 'kubelet-server-current.pem'),
    ])
    assert.match(stdout, /: OK\n$/)
  })
}

/** The machine under the kubelet. */
function defineMachineTests({ kubelet }: Node): void {
  test('parameters of the kernel that differ are set', () => {
    const values = Object.keys(kernelParameters).map((name) => readFileSync(`/proc/sys/${name}`, 'utf8').trim())
    assert.deepEqual(values, ['1', '0', '10', '1', '1000000', '25000000'])
    const changes = kubelet.lines.filter((line) => line.includes('Updating kernel flag'))
    assert.equal(changes.length, 3)
  })
}

/** The clients of the kubelet, and its own rights. */
function defineAccessTests({ cluster, client, kubelet, administrator }: Node): void {
  test('nobody reaches the kubelet without credentials and rights, a container neither', async () => {
    await client.create(pods, sleeper('thief'))
    await waitFor('the pod runs', async () => isRunning(await client.get(pods, 'default', 'thief')))
    for (const path of ['/pods', '/metrics', '/configz', '/logs/', '/exec/default/thief/main?command=id', '/nothing'])
      assert.equal(await get(kubelet.port, path), '401 Unauthorized', path)
    assert.equal(await get(kubelet.port, '/pods', { token: bootstrapToken }).then((text) => text.slice(0, 4)), '403 ')
    const bearer = await tokenOf(cluster, 'default')
    assert.equal(
      await get(kubelet.port, '/pods', { token: bearer }),
      '403 Forbidden (user=system:serviceaccount:default:default, verb=get, resource=nodes, ' +
        'subresource(s)=[pods proxy])',
    )
    assert.match(await get(kubelet.port, '/pods', administrator), /^200 \{"kind":"PodList"/)

    for (const [own, answer] of [
      ['', '401 Unauthorized'],
      [bearer, '403 Forbidden'],
    ] as const)
      assert.match(await fromPod(kubelet.port, own), new RegExp(`^${answer}`))
  })

  test('the credentials of a node read only what its pods need, and write only its own objects', async () => {
    await client.create(secrets, secret('used'))
    await client.create(secrets, secret('unused'))
    const volumes = [{ name: 'used', secret: { secretName: 'used' } }]
    await client.create(pods, sleeper('reader', {}, { volumes }))
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } })
    const own = await connectTo({ kubeconfig: kubelet.kubeconfig })
    try {
      await waitFor(
        'the node may read the secret',
        async () => (await codeOf(own.get(secrets, 'default', 'used'))) === 200,
      )
      assert.equal(await codeOf(own.get(secrets, 'default', 'unused')), 403)
      assert.equal(await codeOf(own.list(secrets, { namespace: 'default' })), 403)
      assert.equal(await codeOf(own.get(nodes, '', 'n1')), 200)
      const restricted = { metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } }
      const label = { metadata: { labels: { stolen: 'true' } } }
      assert.equal(await codeOf(own.patch(nodes, '', 'n2', label)), 403)
      assert.equal(await codeOf(own.patch(nodes, '', 'n1', restricted)), 403)
      assert.equal(await codeOf(own.create(pods, sleeper('made'))), 403)
    } finally {
      own.close()
    }
  })

  test('logs of the node cannot leave their folder', async () => {
    for (const path of [
      '/logs/../../etc/passwd',
      '/logs/..%2f..%2fetc%2fpasswd',
      '/containerLogs/default/..%2f..%2fetc/x',
    ])
      assert.match(await get(kubelet.port, path, administrator), /^(400|404) /, path)
  })
}

const expectedMetrics: readonly RegExp[] = [
  /^kubelet_node_name\{node="n1"\} 1$/m,
  /^kubelet_running_pods \d+$/m,
  /^# TYPE kubelet_running_containers gauge$/m,
  /^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} [1-9]/m,
  /^kubelet_runtime_operations_duration_seconds_count\{operation_type="list_containers"\} [1-9]/m,
  /^kubelet_pod_start_duration_seconds_count [1-9]/m,
  /^kubelet_pod_worker_duration_seconds_count\{operation_type="create"\} [1-9]/m,
  /^kubelet_pleg_relist_duration_seconds_count [1-9]/m,
  /^kubelet_started_pods_total [1-9]/m,
  /^kubelet_started_containers_total\{container_type="container"\} [1-9]/m,
  /^kubelet_pod_status_sync_duration_seconds_count [1-9]/m,
  /^kubelet_graceful_shutdown_start_time_seconds 0$/m,
  /^kubelet_desired_pods\{static=""\} [1-9]/m,
  /^kubelet_certificate_manager_client_ttl_seconds \d{4,}$/m,
  /^kubelet_certificate_manager_server_ttl_seconds \d{4,}$/m,
  /^kubelet_http_requests_total\{long_running="false",method="GET",path="pods",server_type="readwrite"\} [1-9]/m,
  /^kubernetes_build_info\{major="1",minor="36"/m,
  /^rest_client_requests_total\{/m,
]

/** Settings, metrics and the log. */
function defineEffectTests({ kubelet, administrator }: Node): void {
  test('/configz, /metrics and -v show what is in effect', async () => {
    const { kubeletconfig } = JSON.parse((await get(kubelet.port, '/configz', administrator)).slice(4))
    assert.deepEqual(
      [kubeletconfig.maxPods, kubeletconfig.serverTLSBootstrap, kubeletconfig.authentication.anonymous.enabled],
      [20, true, false],
    )
    const metrics = await get(kubelet.port, '/metrics', administrator)
    for (const line of expectedMetrics) assert.match(metrics, line)

    const calls = (): number => kubelet.lines.filter((line) => line.includes('runtime status')).length
    assert.ok(calls() > 0)
    assert.equal(
      await get(kubelet.port, '/debug/flags/v', administrator, 'PUT', '0'),
      '200 successfully set klog.logging.verbosity to 0',
    )
    const before = calls()
    const count = /kubelet_runtime_operations_total\{operation_type="status"\} (\d+)/
    const asked = async (): Promise<number> =>
      Number(count.exec(await get(kubelet.port, '/metrics', administrator))?.[1] ?? 0)
    const first = await asked()
    await waitFor('the runtime is asked again', async () => (await asked()) > first + 1)
    assert.ok(calls() <= before + 1)
  })

  test('a flag redirects streams of containers', async () => {
    const path = '/exec/default/thief/main?command=true&output=1'
    assert.match(await redirectionOf(kubelet.port, path, administrator), /^302 \/cri\/exec\/[\w-]{8}$/)
  })

  test('profiles of the process are served to administrators', async () => {
    assert.match(await get(kubelet.port, '/debug/pprof/cmdline', administrator), /^200 .*kubelet/s)
    assert.match(await get(kubelet.port, '/debug/pprof/heap?seconds=1', administrator), /^200 ./)
    assert.match(await get(kubelet.port, '/debug/pprof/mutex', administrator), /^404 Unknown profile/)
    assert.equal(await get(kubelet.port, '/debug/pprof/'), '401 Unauthorized')
  })

  test('the log names settings without effect, and has no secrets', () => {
    const log = kubelet.lines.join('\n')
    assert.match(log, /--hairpin-mode changes nothing here: the network is that of CNI and kube-proxy/)
    assert.match(log, /^Flag --max-pods has been deprecated, This parameter should be set via the config file /m)
    for (const hidden of [bootstrapToken, 'PRIVATE KEY', 'hunter2', 'Bearer']) assert.ok(!log.includes(hidden), hidden)
  })
}

/** Images that need credentials, from a registry beside the containers. */
function defineImageTests({ client, kubelet, provider }: Node): void {
  test('a program of --image-credential-provider-bin-dir gives the credentials of private images', async () => {
    const pulled = async (image: string): Promise<void> => {
      const name = image.replaceAll(/[^a-z]/g, '')
      await client.create(pods, sleeper(name, { image: `${registryHost}/${image}` }, { restartPolicy: 'Never' }))
      const message = `Successfully pulled image "${registryHost}/${image}"`
      await waitFor(`the image ${image} is pulled`, async () => {
        const { items } = await client.list(events, {})
        return items.some((event) => event.involvedObject.name === name && event.message?.startsWith(message))
      })
    }
    await pulled('private/one:a')
    await pulled('private/two:a')
    await pulled('public/app:a')
    // The answer is for the registry: one run serves the second private image, and other images need none.
    const request = { kind: 'CredentialProviderRequest', apiVersion: 'credentialprovider.kubelet.k8s.io/v1' }
    const image = `${registryHost}/private/one`
    assert.deepEqual(provider.requests(), [`get test ${JSON.stringify({ ...request, image })}`])
    assert.ok(!kubelet.lines.join('\n').includes(registryLogin.password))
  })
}

/** A token of a service account. */
async function tokenOf(cluster: TestCluster, name: string): Promise<string> {
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`
  const { status } = await cluster.call('POST', path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  return (status as { token: string }).token
}

await inNamespaces(import.meta.filename, async () => {
  const ends: (() => unknown)[] = []
  const lifetime = { after: (end: () => unknown) => void ends.push(end) }
  const cluster = await testCluster(lifetime, { controllers: apiControllers })
  const client = clientFor(lifetime, cluster)
  const nodeRuntime = await startNodeRuntime()
  lifetime.after(() => nodeRuntime.stop())
  const root = mkdtempSync(join(tmpdir(), 't8s-program-'))
  const registry = await startRegistry(nodeRuntime, ['private/one:a', 'private/two:a', 'public/app:a'])
  lifetime.after(() => registry.stop())
  const provider = writeCredentialProvider(root)
  const kubelet = await startProgram(root, cluster, nodeRuntime, lifetime, provider.flags)
  after(async () => {
    // Their containers end before the runtime.
    for (const { metadata } of (await client.list(pods)).items)
      await client.delete(pods, 'default', metadata.name ?? '')
    await waitFor('the pods are deleted', async () => (await client.list(pods)).items.length === 0)
    await waitFor('sandboxes have ended', () => !readdirSync('/proc').some(isSleeper))
    for (const end of ends.reverse()) await end()
    rmSync(root, { recursive: true, force: true })
  })
  const administrator: Access = { cert: cluster.client.cert, key: cluster.client.key }
  const node: Node = { cluster, client, root, kubelet, administrator, provider }
  defineCredentialTests(node)
  defineMachineTests(node)
  defineAccessTests(node)
  defineImageTests(node)
  defineEffectTests(node)
})
