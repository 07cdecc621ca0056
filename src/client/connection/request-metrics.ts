/** Metrics of requests to a server, under client-go's names (`rest_client_*`). */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ClientRequest, ClientResponse } from './connection.ts'

/** Called by a connection for its requests. */
export interface RequestMetrics {
  /** A response has begun, or the request failed: then the code is `<error>`. */
  responded(method: string, host: string, code: string, seconds: number): void
  /** A body of so many bytes was sent. */
  sent(method: string, host: string, bytes: number): void
  /** A response of so many bytes was read completely. */
  received(method: string, host: string, bytes: number): void
  /** A request waited for the rate limit. */
  waited(method: string, host: string, seconds: number): void
}

const seconds: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
/** From 64 bytes to 16 MB. */
const bytes: readonly number[] = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216]

/**
 * Registers the metrics; call it once per registry. Several connections can share the result.
 * @example const client = await connectTo({ metrics: restClientMetrics(new MetricsRegistry()) })
 */
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
  const responseSizes = histogram('response_size_bytes', 'Response size in bytes. Broken down by verb and host.', bytes)
  return {
    responded(method, host, code, took) {
      requests([code, method, host]).add()
      duration([method, host]).observe(took)
    },
    sent: (method, host, size) => sizes([method, host]).observe(size),
    received: (method, host, size) => responseSizes([method, host]).observe(size),
    waited: (method, host, took) => waits([method, host]).observe(took),
  }
}

/** Reports the metrics of a request that was sent. */
export async function measureRequest(
  sent: Promise<ClientResponse>,
  { method, body }: ClientRequest,
  host: string,
  metrics: RequestMetrics,
): Promise<ClientResponse> {
  const began = performance.now()
  const answered = (code: string): void => metrics.responded(method, host, code, (performance.now() - began) / 1000)
  try {
    const response = await sent
    answered(`${response.status}`)
    if (body) metrics.sent(method, host, body.length)
    return { ...response, body: countBytes(response.body, (size) => metrics.received(method, host, size)) }
  } catch (error) {
    answered('<error>')
    throw error
  }
}

/** Calls `report` with the size of the body after it was read completely. */
async function* countBytes(body: AsyncIterable<Buffer>, report: (bytes: number) => void): AsyncGenerator<Buffer> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    yield piece
  }
  report(size)
}
