/** Owners of simulated nodes: fleets change only their own nodes, beside other fleets and real nodes. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, repository, stop, t8s, temporaryFolder, up } from '../up/t8s-process.ts'

const ownerLabel = 'simulation.typernetes.io/owner'
const columns =
  '-o=jsonpath={range .items[*]}{.metadata.name} {.metadata.labels.simulation\\.typernetes\\.io/owner}{"\\n"}{end}'

/** `NAME OWNER` of all nodes. */
const nodesOf = (kubeconfig: string): string =>
  kubectl(kubeconfig, 'get', 'nodes', columns).stdout.trim().split('\n').sort().join(', ')
const readyNodes = (kubeconfig: string): number =>
  kubectl(kubeconfig, 'get', 'nodes', '--no-headers').stdout.match(/ Ready /g)?.length ?? 0

const become = (kubeconfig: string, wanted: string): Promise<unknown> =>
  waitFor(wanted, () => nodesOf(kubeconfig) === wanted, { deadlineMs: 30_000 }).catch((error: Error) => {
    throw new Error(`the nodes are ${nodesOf(kubeconfig)}`, { cause: error })
  })

function simulatedNodes(t: TestContext, kubeconfig: string, ...args: string[]): ChildProcess & { output(): string } {
  const child = spawn(join(repository, 't8s'), ['simulated-nodes', '--kubeconfig', kubeconfig, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return Object.assign(child, { output: () => output })
}

/** Creates an object; returns kubectl's exit code. */
const create = (kubeconfig: string, input: string): number | null =>
  spawnSync('kubectl', ['create', '-f', '-'], { env: { ...process.env, KUBECONFIG: kubeconfig }, input }).status

async function ended(child: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exit
}

test('fleets of t8s up and t8s simulated-nodes coexist, and real nodes are not changed', async (t) => {
  const flags = ['--data-dir', temporaryFolder(t), '--secure-port', '0']
  const running = await up(t, [...flags, '--nodes', '3'])
  const { kubeconfig } = running
  const ofUp = 'node-1 up, node-2 up, node-3 up'
  await become(kubeconfig, ofUp)
  const real = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-5"}}'
  assert.equal(create(kubeconfig, real), 0)
  const first = simulatedNodes(t, kubeconfig, '--nodes', '2')
  await become(kubeconfig, `${ofUp}, node-4 simulated-nodes, node-5 , node-6 simulated-nodes`)
  await waitFor('all simulated nodes are ready', () => readyNodes(kubeconfig) === 5, { deadlineMs: 30_000 })

  const env = { KUBECONFIG: kubeconfig }
  assert.match(
    t8s(['scale', 'nodes', '1'], { env }).stderr,
    /up and simulated-nodes have simulated nodes: choose one with --owner NAME/,
  )
  assert.match(
    t8s(['scale', 'nodes', '1', '--owner', 'jane'], { env }).stderr,
    /jane has no simulated nodes: the owners are up, simulated-nodes/,
  )
  assert.equal(t8s(['scale', 'nodes', '4', '--owner', 'up'], { env }).stdout, 'scaled from 3 to 4 nodes\n')
  await become(kubeconfig, `${ofUp}, node-4 simulated-nodes, node-5 , node-6 simulated-nodes, node-7 up`)
  assert.equal(t8s(['scale', 'nodes', '1', '--owner', 'simulated-nodes'], { env }).stdout, 'scaled from 2 to 1 nodes\n')
  await become(kubeconfig, `${ofUp}, node-4 simulated-nodes, node-5 , node-7 up`)

  await ended(first)
  const jane = simulatedNodes(t, kubeconfig, '--nodes', '1', '--owner', 'jane')
  await become(kubeconfig, `${ofUp}, node-4 simulated-nodes, node-5 , node-6 jane, node-7 up`)
  await ended(jane)
  await stop(running)
  const restarted = await up(t, [...flags, '--nodes', '1'])
  await become(restarted.kubeconfig, 'node-1 up, node-4 simulated-nodes, node-5 , node-6 jane')
  assert.equal(
    kubectl(
      restarted.kubeconfig,
      'get',
      'node',
      'node-5',
      '-o',
      'jsonpath={.status.conditions[?(@.reason=="KubeletReady")]}',
    ).stdout,
    '',
  )
})

test('t8s up adopts nodes without an owner if it has a fleet', async (t) => {
  const flags = ['--data-dir', temporaryFolder(t), '--secure-port', '0']
  const running = await up(t, [...flags, '--nodes', '2'])
  const { kubeconfig } = running
  await become(kubeconfig, 'node-1 up, node-2 up')
  const beside = simulatedNodes(t, kubeconfig, '--nodes', '0')
  await waitFor('it runs', () => /simulating nodes of/.test(beside.output()), { deadlineMs: 30_000 })
  assert.equal(kubectl(kubeconfig, 'label', 'node', 'node-1', `${ownerLabel}-`).code, 0)
  await become(kubeconfig, 'node-1 up, node-2 up')
  const scaled = t8s(['scale', 'nodes', '1', '--owner', 'up'], { env: { KUBECONFIG: kubeconfig } })
  assert.equal(scaled.code, 0, scaled.stderr)
  await become(kubeconfig, 'node-1 up')
})

test(
  'without t8s up, nodes of an older release are logged and ignored, and others are adopted by t8s ' +
    'simulated-nodes',
  async (t) => {
    const { kubeconfig } = await up(t, ['--data-dir', temporaryFolder(t), '--secure-port', '0', '--nodes', '0'])
    for (const [name, value] of [
      ['old-1', 'fleet'],
      ['own', ''],
    ])
      assert.equal(
        create(
          kubeconfig,
          JSON.stringify({
            apiVersion: 'v1',
            kind: 'Node',
            metadata: { name, labels: { 'simulation.typernetes.io/node': value } },
          }),
        ),
        0,
      )
    const beside = simulatedNodes(t, kubeconfig, '--nodes', '1')
    await become(kubeconfig, 'node-1 simulated-nodes, old-1 , own simulated-nodes')
    await waitFor(
      'it logs the others',
      () => /1 simulated nodes of an older release have no owner: t8s up adopts them/.test(beside.output()),
      {
        deadlineMs: 10_000,
      },
    )
    const failed = t8s(['simulated-nodes', '--owner', 'up'])
    assert.match(failed.stderr, /'up' is the owner of the nodes of t8s up: choose another name/)
    assert.match(
      t8s(['simulated-nodes', '--owner', 'Jane!']).stderr,
      /It must be up to 40 small letters, digits and dashes/,
    )
  },
)
