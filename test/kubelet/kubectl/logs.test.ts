/** kubectl logs with all its flags, real containers and every kubectl. Needs root. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { Kubectl, manyKubectls } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { shell, TestNode } from '../support/test-node.ts'

/** The size in bytes at which a log is rotated. */
const maxLogSize = 10 * 1024

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join('')

const counting = (count: number, pause: string): string =>
  `i=0; while [ $i -lt ${count} ]; do echo "line $i"; i=$((i+1)); ${pause}; done`

const timestamp = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+(?:Z|[+-]\\d\\d:\\d\\d)'

await inNamespaces(import.meta.filename, async () => {
  const configuration = { containerLogMaxSize: `${maxLogSize}`, containerLogMonitorInterval: '3s' }
  const node = await TestNode.start({}, { configuration })
  const cluster = reachable({ after }, node.cluster)
  const kubectls = manyKubectls().map((program) => new Kubectl(program, cluster.kubeconfigFile, cluster.folder))
  const [lines, twice] = await Promise.all([
    node.create({ name: 'lines', script: `${counting(100, ':')}; sleep 1000` }),
    node.create({
      name: 'twice',
      labels: { app: 'several' },
      restartPolicy: 'OnFailure',
      containers: [
        shell('again', 'test -e /shared/run && { echo second; sleep 1000; }; touch /shared/run; echo first; exit 1', {
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
        }),
        shell('other', 'echo other; sleep 1000'),
      ],
      volumes: [{ name: 'shared', emptyDir: {} }],
    }),
    node.create({ name: 'one-more', labels: { app: 'several' }, script: 'echo more; sleep 1000' }),
  ])
  await node.outputWith(lines, 'line 99')
  await node.outputWith(twice, 'second', 'again')
  await node.running(twice)

  for (const kubectl of kubectls)
    test(`kubectl ${kubectl.program.version} logs with its flags`, () => testFlags(kubectl))
  test('a followed log is complete over rotations, and its tail goes back over rotated files', (t) =>
    testRotation(t, node, kubectls))
  test('a followed log ends with its container', async () => {
    const pod = await node.create({ name: 'ending', script: `${counting(50, 'usleep 20000')}; printf unfinished` })
    await node.running(pod)
    await Promise.all(kubectls.map((kubectl) => kubectl.ok('logs -f ending', /^line 0\n[\s\S]*line 49\nunfinished$/)))
  })
})

async function testFlags(kubectl: Kubectl): Promise<void> {
  await kubectl.ok('logs lines', numbers(0, 100))
  await kubectl.ok('logs lines --tail 3', numbers(97, 100))
  await kubectl.ok('logs lines --tail 0', '')
  await kubectl.ok('logs lines --limit-bytes 9', 'line 0\nli')
  await kubectl.ok('logs lines --since 1h', numbers(0, 100))
  await kubectl.ok('logs lines --since-time 2100-01-01T00:00:00Z', '')
  const stamped = await kubectl.ok('logs lines --timestamps --tail 2', new RegExp(`^${timestamp} line 98\n`))
  const since = stamped.split('\n')[1]?.split(' ')[0]
  await kubectl.ok(`logs lines --since-time ${since}`, /(^|\n)line 99\n$/)
  await kubectl.ok('logs twice -c again', 'second\n')
  await kubectl.ok('logs twice -c again -p', 'first\n')
  await kubectl.fails('logs twice -c other -p', /previous terminated container "other" in pod "twice" not found/)
  const all = await kubectl.ok('logs twice --all-containers')
  assert.deepEqual(all.trim().split('\n').sort(), ['other', 'second'])
  const prefixed = await kubectl.ok('logs -l app=several --all-containers --prefix')
  assert.deepEqual(prefixed.trim().split('\n').sort(), [
    '[pod/one-more/main] more',
    '[pod/twice/again] second',
    '[pod/twice/other] other',
  ])
  await kubectl.fails(
    'logs -l app=several --all-containers -f --max-log-requests 2',
    /you are attempting to follow 3 log streams, but maximum allowed concurrency is 2/,
  )
}

async function testRotation(t: TestContext, node: TestNode, kubectls: readonly Kubectl[]): Promise<void> {
  const count = 1_000
  const pod = await node.create({ name: 'rotated', script: `${counting(count, 'usleep 10000')}; sleep 1000` })
  await node.running(pod)
  const following = kubectls.map((kubectl) => ({ kubectl, ...followed(kubectl, 'logs -f rotated') }))
  await node.outputWith(pod, `line ${count - 1}`)
  const folder = join(node.root, 'logs', `default_rotated_${pod.metadata.uid}`, 'main')
  await waitFor('rotations', () => readdirSync(folder).length > 2)
  // A shorter file is not rotated again.
  await waitFor('the last rotation', () => statSync(join(folder, '0.log')).size < maxLogSize)
  // Compressed files are not read for a tail: it begins in the newest one of those that were rotated.
  const tail = readFileSync(join(folder, '0.log'), 'utf8').split('\n').length + 20
  for (const { kubectl, output } of following)
    await t.test(`kubectl ${kubectl.program.version}`, async () => {
      await waitFor('the last line', () => output().endsWith(`line ${count - 1}\n`))
      assert.equal(output(), numbers(0, count))
      await kubectl.ok(`logs rotated --tail ${tail}`, numbers(count - tail, count))
    })
  for (const { child } of following) child.kill()
}

/** Starts to follow a log. */
function followed(kubectl: Kubectl, line: string) {
  const child = kubectl.spawn(line)
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return { child, output: () => text }
}
