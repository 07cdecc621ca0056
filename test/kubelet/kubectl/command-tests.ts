/** Tests of exec, attach, run and cp with a real container, for one kubectl and each of its protocols. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Kubectl, type KubectlProgram } from '../../support/kubectl.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { images } from '../support/runtimes/test-images.ts'
import { shell, type TestNode } from '../support/test-node.ts'
import { type Protocol, protocolsOf } from './protocols.ts'

/** Starts the pod `web` that the tests use. */
export async function startWeb(node: TestNode): Promise<void> {
  await node.running(
    await node.create({ name: 'web', containers: [shell('one', 'sleep 1000'), shell('two', 'sleep 1000')] }),
  )
}

export function testCommands(node: TestNode, cluster: ReachableCluster, program: KubectlProgram): void {
  const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
  for (const protocol of protocolsOf(program)) {
    const title = `kubectl ${program.version}, ${protocol.name}:`
    test(`${title} exec passes output, input and exit codes`, () => testExec(kubectl, protocol))
    test(`${title} exec -i ends when the command does, though its input is open`, async () => {
      const child = kubectl.spawn("exec -i web -c one -- sh -c 'echo started; exit 7'", protocol)
      const [code] = await once(child, 'exit')
      assert.equal(code, 7)
      child.stdin?.destroy()
    })
    test(`${title} attach has several clients at once`, () => testAttach(kubectl, protocol, node))
    // kubectl 1.22.0 watches the pod, and does not notice its end.
    const skip = program.version === 'v1.22.0' && 'waits for ever after run -i'
    test(`${title} run -i --rm shows the output and removes the pod`, { skip }, () => testRun(kubectl, protocol))
  }
  test(`kubectl ${program.version}: cp both ways, with links and odd names`, () => testCopies(kubectl, cluster.folder))
}

async function testExec(kubectl: Kubectl, { env }: Protocol): Promise<void> {
  await kubectl.ok('exec web -c one -- echo hello', 'hello\n', { env })
  const { code, stdout, stderr } = await kubectl.run("exec web -c two -- sh -c 'echo out; echo err >&2; exit 42'", {
    env,
  })
  assert.deepEqual([code, stdout], [42, 'out\n'])
  assert.match(stderr, /^err\n/)
  // The end of the input reaches the command, whose output goes on (89899).
  const options = { env, input: 'input\n' }
  await kubectl.ok("exec -i web -c one -- sh -c 'cat; sleep 0.2; echo end'", 'input\nend\n', options)
  await kubectl.fails('exec web -c one -- /missing', /no such file or directory|not found/i, { env })
  await kubectl.fails('exec web -c none -- true', /container none is not valid for pod web|none not found/, { env })
}

/** Answers each line of its input, so that clients that attach see it. */
const answering = 'while read line; do echo "got $line"; done; echo "input closed"; sleep 1000'

async function testAttach(kubectl: Kubectl, protocol: Protocol, node: TestNode): Promise<void> {
  const pod = await node.create({ name: 'answers', script: answering, container: { stdin: true } })
  await node.running(pod)
  const clients = [0, 1].map((number) => {
    const child = kubectl.spawn('attach -i answers', protocol)
    const client = { child, number, text: '' }
    child.stdout?.on('data', (chunk) => (client.text += chunk))
    return client
  })
  // kubectl prints nothing when it is attached: an answer shows it.
  for (const client of clients)
    await waitFor(
      `an answer for client ${client.number}`,
      () => {
        client.child.stdin?.write(`${client.number}\n`)
        return client.text.includes(`got ${client.number}\n`)
      },
      { everyMs: 200 },
    )
  clients[0]?.child.stdin?.write('both\n')
  await waitFor('both clients see it', () => clients.every(({ text }) => text.includes('got both\n')))
  for (const { child } of clients) child.kill()
  await Promise.all(clients.map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, 'close')))
  await node.deleted(pod)
}

async function testRun(kubectl: Kubectl, { env }: Protocol): Promise<void> {
  const overrides = JSON.stringify({ spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0 } })
  const options = `-i --rm --restart=Never --image=${images.busybox} --overrides '${overrides}'`
  const { code, stdout, stderr } = await kubectl.run(
    `run once ${options} -- sh -c 'sleep 1; read line; echo read $line; exit 5'`,
    { env, input: 'some text\n' },
  )
  assert.match(stdout, /read some text\n/, stderr)
  assert.equal(code, 5, stderr)
  await waitFor('the removal of the pod', async () =>
    /"once" not found/.test((await kubectl.run('get pod once')).stderr),
  )
}

async function testCopies(kubectl: Kubectl, folder: string): Promise<void> {
  const local = join(folder, `cp-${kubectl.program.minor}`)
  const [sent, received] = [join(local, 'sent'), join(local, 'received')]
  const odd = 'ein Name mit ümläüt, "quotes" & $dollar'
  mkdirSync(join(sent, 'inner'), { recursive: true })
  writeFileSync(join(sent, odd), 'odd')
  writeFileSync(join(sent, 'inner/large'), Buffer.alloc(3_000_000, 'large'))
  symlinkSync('inner/large', join(sent, 'link'))
  const place = `/tmp/cp-${kubectl.program.minor}`
  await kubectl.ok(`cp ${sent} web:${place} -c one`)
  await kubectl.ok(`exec web -c one -- readlink ${place}/link`, 'inner/large\n')
  await kubectl.ok(`exec web -c one -- sh -c 'cat ${place}/ein*'`, 'odd')
  await kubectl.ok(`cp web:${place} ${received} -c one`)
  assert.equal(readFileSync(join(received, odd), 'utf8'), 'odd')
  assert.ok(readFileSync(join(received, 'inner/large')).equals(readFileSync(join(sent, 'inner/large'))))
  // Newer versions of kubectl skip links, with a warning.
  const link = lstatSync(join(received, 'link'), { throwIfNoEntry: false })
  if (link) assert.equal(readlinkSync(join(received, 'link')), 'inner/large')
}
