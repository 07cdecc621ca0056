/** Probes a container by gRPC's health checking protocol: the status SERVING is success. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { Health, type HealthCheckResponse, HealthCheckResponse_ServingStatusSchema } from '#protobuf/grpc-health_pb.js'
import { bufferOf } from '../../../lib/encoding/buffer-of.ts'
import { goDuration } from '../../../lib/go/go-duration.ts'
import { goQuote } from '../../../lib/go/go-quote.ts'
import { GrpcError } from '../../../lib/grpc/grpc-error.ts'
import { pathOf } from '../../../lib/grpc/socket-client.ts'
import { failure, type ProbeOutcome, success } from './outcome.ts'
import { joinHostPort } from './port.ts'

const { check } = Health.method

export async function probeGrpc(host: string, port: number, service: string, timeoutMs: number): Promise<ProbeOutcome> {
  const address = joinHostPort(host, port)
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.primary_user_agent': 'kube-probe/1.36',
    // Proxies and settings of the node are not those of the pod, and no connection is shared between probes.
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
  })
  const deadline = Date.now() + timeoutMs
  try {
    if (!(await isConnected(client, deadline))) {
      const place = `${goQuote(address)} within ${goDuration(timeoutMs)}`
      return failure(`timeout: failed to connect service ${place}: context deadline exceeded`)
    }
    return outcomeOf(await callCheck(client, service, deadline))
  } catch (error) {
    return failure(messageOf(error as ServiceError, timeoutMs))
  } finally {
    client.close()
  }
}

const isConnected = (client: Client, deadline: number): Promise<boolean> =>
  new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(!error)))

const callCheck = (client: Client, service: string, deadline: number): Promise<HealthCheckResponse> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      pathOf(check),
      (text: string) => bufferOf(toBinary(check.input, create(check.input, { service: text }))),
      (bytes) => fromBinary(check.output, bytes),
      service,
      { deadline },
      (error: ServiceError | null, response?: HealthCheckResponse) => (error ? reject(error) : resolve(response!)),
    )
  })

function outcomeOf({ status }: HealthCheckResponse): ProbeOutcome {
  const name = HealthCheckResponse_ServingStatusSchema.value[status]?.name ?? String(status)
  return name === 'SERVING'
    ? success('service healthy')
    : failure(`service unhealthy (responded with ${goQuote(name)})`)
}

function messageOf(error: ServiceError, timeoutMs: number): string {
  const wrapped = new GrpcError(error)
  switch (wrapped.code) {
    case 'Unimplemented':
      return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`
    case 'DeadlineExceeded':
      return `timeout: health rpc did not complete within ${goDuration(timeoutMs)}`
    default:
      return `error: health rpc probe failed: ${wrapped.message}`
  }
}
