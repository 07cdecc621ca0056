/**
 * Tests of the conformance suite for lifecycle hooks (`test/e2e/common/node/lifecycle_hook.go` and
 * `test/e2e/node/pre_stop.go`), on a real node.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import type { Container } from '../../../src/kubelet/pod-types.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { webServer } from '../support/pods/web-server.ts'
import { shell, TestNode } from '../support/test-node.ts'

type Lifecycle = NonNullable<Container['lifecycle']>
type Handler = NonNullable<Lifecycle['preStop']>

interface HookCase {
  /** Upstream's `testname`. */
  readonly title: string
  readonly hook: 'postStart' | 'preStop'
  readonly handler: (targetUrl: string) => Handler
}

/** The hook's own request to the server that logs it. */
const byExec = (url: string): Handler => ({ exec: { command: ['wget', '-q', '-O', '-', url] } })
/** The hook's request to a sidecar of its pod, which sends another one to the server. */
const byHttp = (url: string): Handler => ({ httpGet: { path: `/cgi-bin/dial?${url}`, port: 8080 } })

const cases: readonly HookCase[] = [
  { title: 'Pod Lifecycle, post start exec hook', hook: 'postStart', handler: byExec },
  { title: 'Pod Lifecycle, prestop exec hook', hook: 'preStop', handler: byExec },
  { title: 'Pod Lifecycle, post start http hook', hook: 'postStart', handler: byHttp },
  { title: 'Pod Lifecycle, prestop http hook', hook: 'preStop', handler: byHttp },
]

const sidecar: Container = shell('redirect', webServer, {
  restartPolicy: 'Always',
  startupProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1, timeoutSeconds: 10 },
})

await inNamespaces(import.meta.filename, () =>
  describe('lifecycle hooks', { concurrency: true }, async () => {
    const started = start()
    for (const [index, one] of cases.entries())
      test(one.title, async () => {
        const { node, server } = await started
        await testHook(node, server, `hook-${index}`, one)
      })
    testServer(started)
    testFailures(started)
  }),
)

interface Started {
  readonly node: TestNode
  /** A pod that logs requests. */
  readonly server: Pod
}

async function start(): Promise<Started> {
  const node = await TestNode.start()
  const pod = await node.create({ name: 'server', script: webServer })
  return { node, server: await node.running(pod) }
}

async function testHook(node: TestNode, server: Pod, name: string, { hook, handler }: HookCase): Promise<void> {
  const url = `http://${server.status?.podIP}:8080/cgi-bin/echo?${name}`
  const pod = await node.create({
    name,
    terminationGracePeriodSeconds: 15,
    initContainers: [sidecar],
    script: 'trap "exit 0" TERM; while true; do sleep 0.1; done',
    container: { lifecycle: { [hook]: handler(url) } },
  })
  await node.running(pod)
  const isCalled = (): boolean => node.outputOf(server).split('\n').includes(name)
  if (hook === 'postStart')
    assert.ok(isCalled(), `the container runs before its postStart hook has ended: ${node.outputOf(pod, 'redirect')}`)
  else assert.ok(!isCalled(), 'the preStop hook was called while the container runs')
  await node.deleted(pod)
  await node.outputWith(server, name)
}

function testServer(started: Promise<Started>): void {
  test('Pods, prestop hook', async () => {
    const { node, server } = await started
    const write = `http://${server.status?.podIP}:8080/cgi-bin/write`
    const data = '{"Source":"prestop"}'
    const preStop = { exec: { command: ['wget', '-q', '-O-', `--post-data=${data}`, write] } }
    const pod = await node.create({
      name: 'tester',
      terminationGracePeriodSeconds: 30,
      script: 'trap "exit 0" TERM; while true; do sleep 0.1; done',
      container: { lifecycle: { preStop } },
    })
    await node.running(pod)
    await node.deleted(pod)
    const read = '/api/v1/namespaces/default/pods/server:8080/proxy/cgi-bin/read'
    await waitFor('the server has received the request', async () => (await node.api.text(read)) === data)
  })
}

function testFailures(started: Promise<Started>): void {
  test('a container whose postStart hook fails ends by its preStop hook and its stop signal', async () => {
    const { node } = await started
    const pod = await node.create({
      name: 'post-start-fails',
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 30,
      script: 'trap "echo stopped; exit 0" TERM; while true; do sleep 0.1; done',
      container: {
        lifecycle: {
          postStart: { exec: { command: ['sh', '-c', 'echo broken >&2; exit 3'] } },
          preStop: { exec: { command: ['sh', '-c', 'echo hook > /proc/1/fd/1'] } },
        },
      },
    })
    assert.equal(await node.ended(pod), 'hook\nstopped')
    assert.deepEqual(await node.recorded(pod, 'FailedPostStartHook'), ['PostStartHook failed'])
    assert.deepEqual(await node.recorded(pod, 'Killing'), ['FailedPostStartHook'])
  })

  test('sidecars end after main containers, but their preStop hooks begin with those of all', async () => {
    const { node } = await started
    const preStop = (name: string) => ({ exec: { command: ['sh', '-c', `echo hook ${name} > /proc/1/fd/1`] } })
    const script = (name: string, seconds: number): string =>
      `trap "sleep ${seconds}; echo end ${name}; exit 0" TERM; while true; do sleep 0.1; done`
    const pod = await node.create({
      name: 'sidecars',
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 60,
      initContainers: ['first', 'second'].map((name) =>
        shell(name, script(name, 0), { restartPolicy: 'Always', lifecycle: { preStop: preStop(name) } }),
      ),
      script: script('main', 4),
      container: { lifecycle: { preStop: preStop('main') } },
    })
    await node.running(pod)
    await node.client.patch(pods, 'default', 'sidecars', { spec: { activeDeadlineSeconds: 1 } })
    await node.ended(pod)
    const { status } = await node.read(pod)
    const times = (text: string): number => Date.parse(text)
    const endOf = (name: string): number => {
      const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
      return times(all.find((one) => one.name === name)?.state?.terminated?.finishedAt ?? '')
    }
    for (const name of ['main', 'first', 'second']) assert.equal(node.outputOf(pod, name), `hook ${name}\nend ${name}`)
    assert.ok(endOf('main') <= endOf('second') && endOf('second') <= endOf('first'), JSON.stringify(status))
    const hooksAt = ['main', 'first', 'second'].map((name) => node.loggedAt(pod, `hook ${name}`, name))
    assert.ok(Math.max(...hooksAt) < node.loggedAt(pod, 'end main', 'main'), hooksAt.join())
  })
}
