/** `t8s up` with a real node, and `t8s runtime`, for users without root. Needs root for the user of the test. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { images, writeTestImages } from '../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, repository, stop, t8s, up } from '../up/t8s-process.ts'
import { makeOrdinaryUser, type OrdinaryUser, userId } from './support/ordinary-user.ts'

/** An address of the machine that is not a loopback address. */
const machineAddress = '198.51.100.1'

function prepareNetwork(): void {
  const commands = [
    'ip link set lo up',
    'ip link add machine0 type bridge',
    `ip address add ${machineAddress}/24 dev machine0`,
    'ip link set machine0 up',
    `ip route add default via ${machineAddress}`,
  ]
  execFileSync('sh', ['-ec', commands.join('\n')])
}

/** Creates a folder that is deleted after the tests. */
function ownFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Standard output of a kubectl command that succeeds. */
function run(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}\n${cluster.output()}`)
  return stdout
}

/** Starts a registry on the machine's loopback address, and returns its address. */
async function startRegistry(folder: string): Promise<string> {
  const env = { ...process.env, T8S_IMAGE_ROOT: join(folder, 'served') }
  for (const file of writeTestImages(folder)) assert.equal(t8s(['image', 'import', file], { env }).code, 0)
  const server = spawn(join(repository, 't8s'), ['image', 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => server.kill('SIGKILL'))
  const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
  return /127\.0\.0\.1:\d+/.exec(line)![0]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** A server of the machine as a process, since kubectl blocks this one. Resolves with its port. */
async function startMachineServer(): Promise<number> {
  const code = `const server = require('node:http').createServer((_, response) => response.end('from the machine'))
server.listen(0, () => console.log(server.address().port))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  after(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  return Number(line)
}

const script = 'mkdir /tmp/www; echo it works >/tmp/www/index.html; echo started; exec httpd -f -p 8080 -h /tmp/www'

const webPod = (image: string, hostPort: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: {
    containers: [
      {
        name: 'web',
        image,
        command: ['sh', '-c', script],
        ports: [{ containerPort: 8080, hostPort }],
        resources: { limits: { memory: '64Mi', cpu: '1' } },
        securityContext: { runAsUser: 1000, runAsGroup: 1000 },
      },
    ],
    terminationGracePeriodSeconds: 1,
  },
})

/** The command lines of the user's processes. */
const processesOfUser = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return statSync(`/proc/${name}`).uid === 0 ? [] : [readFileSync(`/proc/${name}/cmdline`, 'utf8')]
      } catch {
        return []
      }
    })

async function checkNothingLeft({ runtime }: OrdinaryUser): Promise<void> {
  await waitFor('no process of the user is left', () => processesOfUser().length === 0)
  assert.deepEqual(readdirSync(join(runtime, 'typernetes')), [])
}

async function portForward(t: TestContext, cluster: Running): Promise<string> {
  const forward = spawn('kubectl', ['port-forward', 'pod/web', ':8080'], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => forward.kill('SIGKILL'))
  const [line] = (await once(forward.stdout.setEncoding('utf8'), 'data')) as [string]
  return /127\.0\.0\.1:\d+/.exec(line)![0]
}

await inNamespaces(import.meta.filename, async () => {
  prepareNetwork()
  const user = makeOrdinaryUser(ownFolder('t8s-rootless-'))
  const { program, environment: env, home: cwd } = user
  const registry = await startRegistry(ownFolder('t8s-served-'))
  const image = images.busybox.replace(/^[^/]+/, registry)

  test('a user without root runs pods, and reaches them by logs, exec, port-forward and host ports', async (t) => {
    const hostPort = await freePort()
    const cluster = await up(t, ['--node-type=auto', '--secure-port=0'], { program, env, cwd })
    assert.match(cluster.output(), /^runs without root, in a user namespace: pods have no limits of CPU and memory, /m)
    const node = hostname().trim().toLowerCase()
    const exists = (...object: readonly string[]) => kubectl(cluster.kubeconfig, 'get', ...object).code === 0
    await waitFor('the account of pods', () => exists('serviceaccount', 'default') && exists('node', node))
    execFileSync('kubectl', ['create', '-f', '-'], {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      input: JSON.stringify(webPod(image, hostPort)),
    })
    run(cluster, 'wait', 'pod', 'web', '--for=condition=Ready', '--timeout=50s')
    run(cluster, 'wait', 'node', node, '--for=condition=Ready', '--timeout=5s')
    assert.equal(run(cluster, 'logs', 'web'), 'started\n')
    assert.equal(run(cluster, 'exec', 'web', '--', 'id', '-u'), '1000\n')
    assert.equal(await (await fetch(`http://127.0.0.1:${hostPort}/`)).text(), 'it works\n')
    assert.equal(await (await fetch(`http://${await portForward(t, cluster)}/`)).text(), 'it works\n')
    const usage = run(cluster, 'get', '--raw', `/api/v1/nodes/${node}/proxy/metrics/resource`)
    assert.match(usage, /^container_memory_working_set_bytes\{container="web",.*\} \d{4,} /m)
    const machine = `http://${machineAddress}:${await startMachineServer()}/`
    assert.equal(run(cluster, 'exec', 'web', '--', 'wget', '-qO-', machine), 'from the machine')
    assert.deepEqual(await stop(cluster), { code: 0, signal: null }, cluster.output())
    await checkNothingLeft(user)
  })

  test('a user without root builds an image with commands, and removes it', async () => {
    const lines = [`FROM ${image}`, 'RUN touch /owned && chown 33 /owned && test "$(stat -c %u /owned)" = 33']
    writeFileSync(join(cwd, 'Dockerfile'), lines.join('\n'))
    const t8sImage = (...args: readonly string[]): string => {
      const { code, stdout, stderr } = t8s(['image', ...args], { program, env, cwd })
      assert.equal(code, 0, stderr)
      return stdout
    }
    t8sImage('pull', '-q', image)
    assert.match(t8sImage('build', '-t', 'built:1', '.'), /^built docker.io\/library\/built:1 /)
    assert.match(t8sImage('remove', 'built:1'), /^removed built:1, /)
    await checkNothingLeft(user)
  })

  test('t8s runtime of a user without root serves on a socket of the user', async (t) => {
    const child = spawn(program, ['runtime'], { cwd, env: { ...process.env, ...env }, stdio: 'ignore' })
    t.after(() => child.kill('SIGKILL'))
    const socket = join(user.runtime, 'typernetes/runtime.sock')
    await waitFor('the socket', () => statSync(socket).isSocket())
    assert.equal(statSync(socket).uid, userId)
    const client = new CriRuntime(`unix://${socket}`)
    assert.ok((await client.status()).status)
    client.close()
    // Without the process outside, the others end.
    child.kill('SIGKILL')
    await waitFor('no process of the user is left', () => processesOfUser().length === 0)
  })
})
