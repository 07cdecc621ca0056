/**
 * Finds the store for `--etcd-servers`: requests the health of its URLs; the `etcd` launcher of Typernetes responds
 * with the path of its data, and another etcd without it.
 */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { locationHeaders } from './health-server.ts'
import type { StoreLocation } from './open-store.ts'

const timeoutMs = 10_000
const intervalMs = 20

/**
 * Tries the URLs until one responds. Undefined if that is another etcd, or if none responds. Rejects with an
 * ExplainedError for text that is no URL.
 */
export async function findStore(urls: readonly string[]): Promise<StoreLocation | undefined> {
  const wrong = urls.find((url) => !/^(https?|unixs?):\/\//.test(url) || !URL.canParse(url))
  if (wrong !== undefined)
    throw new ExplainedError(`--etcd-servers ${wrong} is not a URL: use one such as http://127.0.0.1:2379`)
  // The launcher does not speak TLS.
  if (urls.some((url) => !url.startsWith('http:'))) return undefined
  const deadline = performance.now() + timeoutMs
  for (;;) {
    for (const url of urls) {
      try {
        return await requestLocation(url)
      } catch {
        // It may be starting.
      }
    }
    if (performance.now() > deadline) return undefined
    await delay(intervalMs)
  }
}

async function requestLocation(url: string): Promise<StoreLocation | undefined> {
  const request = get(new URL('/health', url), { agent: false, timeout: 1000 })
  request.on('timeout', () => request.destroy(new Error('no response within one second')))
  const [{ headers }] = (await once(request, 'response')) as [IncomingMessage]
  request.destroy()
  const dataDir = headers[locationHeaders.dataDir]
  if (typeof dataDir !== 'string') return undefined
  return { dataDir: decodeURIComponent(dataDir), unsafeNoFsync: headers[locationHeaders.unsafeNoFsync] === 'true' }
}
