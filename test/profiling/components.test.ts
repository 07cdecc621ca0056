/** Profiles and log lines of components other than the API server, each run alone. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository, temporaryFolder } from '../up/t8s-process.ts'

interface Component {
  readonly output: () => string
  /** Sends a GET with the administrator's certificate. */
  get(path: string): Promise<{ readonly status: number; readonly bytes: Buffer }>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function component(
  t: TestContext,
  command: string,
  { kubeconfigFile, client: { cert, key } }: TestCluster,
  ...flags: string[]
): Promise<Component> {
  const port = await freePort()
  const access = ['--kubeconfig', '--authentication-kubeconfig', '--authorization-kubeconfig'].flatMap((flag) => [
    flag,
    kubeconfigFile,
  ])
  const args = [
    command,
    ...access,
    '--secure-port',
    `${port}`,
    '--bind-address',
    '127.0.0.1',
    '--leader-elect=false',
    ...flags,
  ]
  const child = spawn(join(repository, 't8s'), args, { cwd: temporaryFolder(t), stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await waitFor('it serves', () => /health and metrics on/.test(output) || child.exitCode !== null)
  assert.equal(child.exitCode, null, output)
  const get: Component['get'] = async (path) => {
    const [response] = (await once(
      request({ port, path, cert, key, rejectUnauthorized: false, agent: false }).end(),
      'response',
    )) as [IncomingMessage]
    return { status: response.statusCode ?? 0, bytes: Buffer.concat(await response.toArray()) }
  }
  // It reads the CA of client certificates from the cluster.
  await waitFor('the administrator is let in', async () => (await get('/metrics')).status === 200)
  return { output: () => output, get }
}

for (const command of ['controller-manager', 'scheduler']) {
  test(`go tool pprof reads a profile of t8s ${command}, which logs like klog`, async (t) => {
    const cluster = await testCluster(t, { controllers: false })
    const running = await component(t, command, cluster, '--logging-format=text')
    for (const line of running.output().trim().split('\n'))
      assert.match(line, /^[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} [ \d]{6}\d [\w.-]+:\d+\] /)
    const { status, bytes } = await running.get('/debug/pprof/profile?seconds=1')
    assert.equal(status, 200, bytes.toString())
    const folder = temporaryFolder(t)
    const file = join(folder, 'cpu.pb.gz')
    writeFileSync(file, bytes)
    const top = execFileSync('go', ['tool', 'pprof', '-top', file], {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    assert.match(top, /^Type: cpu$/m)
  })

  test(`t8s ${command} --profiling=false has no profiles`, async (t) => {
    const cluster = await testCluster(t, { controllers: false })
    const running = await component(t, command, cluster, '--profiling=false', '--logging-format=json')
    for (const line of running.output().trim().split('\n')) assert.equal(typeof JSON.parse(line).msg, 'string')
    assert.equal((await running.get('/debug/pprof/')).status, 404)
  })
}
