/** What is counted of requests to a server, under client-go's names (`rest_client_*`). */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ClientAnswer, ClientRequest } from './connection.ts'

/** Told by a connection of what becomes of its requests. */
export interface RequestMetrics {
  /** The head of an answer came, or there is none: the code is `<error>` then. */
  answered(method: string, host: string, code: string, seconds: number): void
  /** Bytes of a body that was sent. */
  sent(method: string, host: string, bytes: number): void
  /** Bytes of an answer that was read to its end. */
  received(method: string, host: string, bytes: number): void
  /** A request has waited for its turn. */
  waited(method: string, host: string, seconds: number): void
}

const seconds: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
/** From 64 bytes to 16 MB. */
const bytes: readonly number[] = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216]

/** To be called once for each registry; several connections may share what it gives. */
export function restClientMetrics(registry: MetricsRegistry): RequestMetrics {
  const labels = ['verb', 'host']
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    registry.histogram(`rest_client_${name}`, help, buckets, labels)
  const requests = registry.counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host.',
    ['code', 'method', 'host'],
  )
  const duration = histogram(
    'request_duration_seconds',
    'Request latency in seconds. Broken down by verb, and host.',
    seconds,
  )
  const waits = histogram(
    'rate_limiter_duration_seconds',
    'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    seconds,
  )
  const sizes = histogram('request_size_bytes', 'Request size in bytes. Broken down by verb and host.', bytes)
  const answers = histogram('response_size_bytes', 'Response size in bytes. Broken down by verb and host.', bytes)
  return {
    answered(method, host, code, took) {
      requests([code, method, host]).add()
      duration([method, host]).observe(took)
    },
    sent: (method, host, size) => sizes([method, host]).observe(size),
    received: (method, host, size) => answers([method, host]).observe(size),
    waited: (method, host, took) => waits([method, host]).observe(took),
  }
}

/** A request on its way, with all that is told of it. */
export async function counted(
  sent: Promise<ClientAnswer>,
  { method, body }: ClientRequest,
  host: string,
  metrics: RequestMetrics,
): Promise<ClientAnswer> {
  const began = performance.now()
  const answered = (code: string): void => metrics.answered(method, host, code, (performance.now() - began) / 1000)
  try {
    const answer = await sent
    answered(`${answer.status}`)
    if (body) metrics.sent(method, host, body.length)
    return { ...answer, body: measured(answer.body, (size) => metrics.received(method, host, size)) }
  } catch (error) {
    answered('<error>')
    throw error
  }
}

/** `told` is told how long it was, when it has been read to its end. */
async function* measured(body: AsyncIterable<Buffer>, told: (bytes: number) => void): AsyncGenerator<Buffer> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    yield piece
  }
  told(size)
}
