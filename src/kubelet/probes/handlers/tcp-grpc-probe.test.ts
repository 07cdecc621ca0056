import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { Metadata, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js'
import {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from '#protobuf/grpc-health_pb.js'
import { probeGrpc } from './grpc-probe.ts'
import { probeTcp } from './tcp-probe.ts'

test('a TCP probe succeeds at an open port, and closes its connection', async (t) => {
  const closed = Promise.withResolvers<void>()
  const server = createServer((socket) => socket.on('close', () => closed.resolve()).resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  assert.deepEqual(await probeTcp('127.0.0.1', port, 10_000), { result: 'success', output: '' })
  await closed.promise
  server.close()
  assert.deepEqual(await probeTcp('127.0.0.1', port, 10_000), {
    result: 'failure',
    output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  })
})

type Answer =
  | { readonly status: HealthCheckResponse_ServingStatus }
  | { readonly code: number; readonly details: string }
  | undefined

/** Serves gRPC; `answers` are by service name, undefined answers never. */
async function serveGrpc(answers: Readonly<Record<string, Answer>>, withHealth = true) {
  const server = new Server()
  const agents: string[] = []
  const { check } = Health.method
  if (withHealth)
    server.addService(
      {
        check: {
          path: '/grpc.health.v1.Health/Check',
          requestStream: false,
          responseStream: false,
          requestSerialize: ({ service }: { service: string }) => Buffer.from(service),
          requestDeserialize: (bytes: Buffer) => fromBinary(HealthCheckRequestSchema, bytes),
          responseSerialize: (value: HealthCheckResponse_ServingStatus) =>
            Buffer.from(toBinary(HealthCheckResponseSchema, create(check.output, { status: value }))),
          responseDeserialize: (bytes: Buffer) => bytes.length,
        },
      },
      {
        check(
          call: ServerUnaryCall<{ service: string }, number>,
          reply: sendUnaryData<HealthCheckResponse_ServingStatus>,
        ) {
          agents.push(String(call.metadata.get('user-agent')[0]))
          const answer = answers[call.request.service]
          if (!answer) return
          if ('status' in answer) reply(null, answer.status)
          else reply({ code: answer.code, details: answer.details, metadata: new Metadata() })
        },
      },
    )
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  )
  return { port, agents, stop: () => server.forceShutdown() }
}

test('a gRPC probe asks for the status of a service', async (t) => {
  const server = await serveGrpc({
    '': { status: 1 },
    ready: { status: 2 },
    gone: { code: status.NOT_FOUND, details: 'unknown service' },
    slow: undefined,
  })
  t.after(server.stop)
  for (const [service, expected] of [
    ['', { result: 'success', output: 'service healthy' }],
    ['ready', { result: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' }],
    [
      'gone',
      {
        result: 'failure',
        output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
      },
    ],
    ['slow', { result: 'failure', output: 'timeout: health rpc did not complete within 2s' }],
  ] as const)
    assert.deepEqual(
      await probeGrpc('127.0.0.1', server.port, service, service === 'slow' ? 2_000 : 20_000),
      expected,
      service,
    )
  assert.match(server.agents[0]!, /^kube-probe\/1\.36 /)
})

test('a gRPC probe fails at a server without health checks, and at a closed port', async () => {
  const server = await serveGrpc({}, false)
  const { result, output } = await probeGrpc('127.0.0.1', server.port, '', 20_000)
  assert.equal(result, 'failure')
  assert.match(output, /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): /)
  server.stop()
  assert.deepEqual(await probeGrpc('127.0.0.1', server.port, '', 200), {
    result: 'failure',
    output: `timeout: failed to connect service "127.0.0.1:${server.port}" within 200ms: context deadline exceeded`,
  })
})
