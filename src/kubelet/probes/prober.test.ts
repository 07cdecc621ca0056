import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrpcError } from '../../lib/grpc/grpc-error.ts'
import { PodEvents } from '../containers/container-events.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import type { Container, Pod } from '../pod-types.ts'
import { type Probe, Prober } from './prober.ts'

type Execution = Awaited<ReturnType<CriRuntime['exec']>>

const pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: { containers: [{ name: 'c' }] } } as Pod

function proberOf(exec: (command: readonly string[], timeoutMs: number) => Partial<Execution> | Error) {
  const events: string[] = []
  let calls = 0
  const prober = new Prober({
    runtime: {
      async exec(_id, command, timeoutMs = 0) {
        calls++
        const result = exec(command, timeoutMs)
        if (result instanceof Error) throw result
        return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), ...result } as Execution
      },
    },
    events: new PodEvents(
      { record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      'n',
    ),
  })
  const run = (probe: Probe, container: Partial<Container> = {}) =>
    prober.probe('Liveness', probe, { pod, container: { name: 'c', ...container }, containerId: 'id', podIp: '' })
  return { run, events, calls: () => calls }
}

const errored = 'Warning Unhealthy Liveness probe errored and resulted in unknown state'

const execProbe: Probe = { exec: { command: ['cat', '/x y'] }, timeoutSeconds: 3 }

for (const [title, result, verdict, event, calls] of [
  ['exit code 0', { stdout: Buffer.from('fine') }, 'success', undefined, 1],
  [
    'another exit code',
    { exitCode: 1, stdout: Buffer.from('out'), stderr: Buffer.from('err') },
    'failure',
    'Warning Unhealthy Liveness probe failed: outerr',
    1,
  ],
  [
    'a time-out',
    new GrpcError({ code: 4, details: 'context deadline exceeded' }),
    'failure',
    'Warning Unhealthy Liveness probe failed: command "cat /x y" timed out',
    1,
  ],
  [
    'an error of the runtime',
    new GrpcError({ code: 5, details: 'no such container' }),
    undefined,
    `${errored}: rpc error: code = NotFound desc = no such container`,
    3,
  ],
] as const)
  test(`exec with ${title}: ${verdict ?? 'no verdict'}`, async () => {
    const prober = proberOf((_, timeoutMs) => {
      assert.equal(timeoutMs, 3_000)
      return result
    })
    assert.equal(await prober.run(execProbe), verdict)
    assert.deepEqual(prober.events, event ? [event] : [])
    assert.equal(prober.calls(), calls)
  })

test('a command is expanded by the values of the container only', async () => {
  let seen: readonly string[] = []
  const prober = proberOf((command) => {
    seen = command
    return {}
  })
  const env = [
    { name: 'A', value: 'a' },
    { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ]
  await prober.run({ exec: { command: ['$(A)', '$(B)', '$$(A)'] } }, { env })
  assert.deepEqual(seen, ['a', '$(B)', '$(A)'])
})

test('a pod without an address is not probed through the network', async () => {
  const prober = proberOf(() => ({}))
  assert.equal(await prober.run({ tcpSocket: { port: 80 } }), undefined)
  assert.deepEqual(prober.events, [`${errored}: the pod has no IP address yet`])
})

test('a name that is no port of the container cannot be probed', async () => {
  const prober = proberOf(() => ({}))
  assert.equal(await prober.run({ tcpSocket: { host: '127.0.0.1', port: 'web' } }), undefined)
  assert.deepEqual(prober.events, [`${errored}: strconv.Atoi: parsing "web": invalid syntax`])
})
