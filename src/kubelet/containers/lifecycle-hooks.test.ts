import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecSyncResponse } from '#protobuf/cri-runtime_pb.js'
import type { Container, Pod } from '../pod-types.ts'
import { PodEvents } from './container-events.ts'
import { HookError, LifecycleHooks } from './lifecycle-hooks.ts'

type Handler = NonNullable<NonNullable<Container['lifecycle']>['postStart']>

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'main', image: 'image' }] },
}
const place = 'for Container "main" in Pod "web_default(u)" failed - error:'

function hooksOf(exec: () => Promise<Partial<ExecSyncResponse>>) {
  const events: string[] = []
  const hooks = new LifecycleHooks({
    runtime: { exec: exec as () => Promise<ExecSyncResponse> },
    sendHttp: async () => {
      throw new Error('Get "http://10.0.0.1:80/": EOF')
    },
    events: new PodEvents(
      { record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      'n',
    ),
  })
  const containerOf = (lifecycle: NonNullable<Container['lifecycle']>): Container => ({ name: 'main', lifecycle })
  return {
    events,
    postStart: (postStart: Handler) => hooks.postStart(pod, containerOf({ postStart }), 'id'),
    preStop: (preStop: Handler, seconds: number) => hooks.preStop(pod, containerOf({ preStop }), 'id', seconds),
  }
}

const failing = async () => ({ exitCode: 3, stdout: Buffer.from('out\n'), stderr: Buffer.from('err\n') })

test('the message of a command that has failed has its error and its output', async () => {
  const { events, postStart } = hooksOf(failing)
  await assert.rejects(postStart({ exec: { command: ['sh', '-c', 'exit 3'] } }), (error: Error) => {
    assert.ok(error instanceof HookError)
    const failure = `command 'sh -c exit 3' exited with 3: err\n, message: "out\\nerr\\n"`
    assert.equal(error.message, `Exec lifecycle hook ([sh -c exit 3]) ${place} ${failure}`)
    return true
  })
  assert.deepEqual(events, ['Warning FailedPostStartHook PostStartHook failed'])
})

test('the message of a command that could not run has the error of the runtime', async () => {
  const { postStart } = hooksOf(async () => {
    throw new Error('no such container')
  })
  await assert.rejects(postStart({ exec: { command: ['true'] } }), {
    message: `Exec lifecycle hook ([true]) ${place} no such container, message: ""`,
  })
})

test('the message of a request that has failed has its path', async () => {
  const { postStart } = hooksOf(failing)
  await assert.rejects(postStart({ httpGet: { path: '/ready', port: 80 } }), {
    message: `HTTP lifecycle hook (/ready) ${place} Get "http://10.0.0.1:80/": EOF`,
  })
})

test('a preStop hook that fails or takes too long is an event at most', async () => {
  const { events, preStop } = hooksOf(failing)
  await preStop({ exec: { command: ['false'] } }, 30)
  assert.deepEqual(events, ['Warning FailedPreStopHook PreStopHook failed'])
  await preStop({ sleep: { seconds: 0 } }, 30)
  const slow = hooksOf(() => new Promise(() => {}))
  await slow.preStop({ exec: { command: ['sleep', '9'] } }, 0.01)
  assert.deepEqual([events.length, slow.events], [1, []])
})
