/**
 * Finds the store for `--etcd-servers`: requests the health of its URLs; the `etcd` launcher of Typernetes responds
 * with the path of its data.
 */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { locationHeaders } from './health-server.ts'
import type { StoreLocation } from './open-store.ts'

const timeoutMs = 10_000
const intervalMs = 20

/**
 * Tries the URLs until one responds. Rejects with an ExplainedError if none does, or if the response is not from the
 * launcher of Typernetes.
 */
export async function findStore(urls: readonly string[]): Promise<StoreLocation> {
  const wrong = urls.find((url) => !/^https?:\/\//.test(url) || !URL.canParse(url))
  if (wrong !== undefined)
    throw new ExplainedError(`--etcd-servers ${wrong} is not a URL: use one such as http://127.0.0.1:2379`)
  const deadline = performance.now() + timeoutMs
  for (;;) {
    let failure: unknown
    for (const url of urls) {
      if (url.startsWith('https:')) throw foreignServer(url)
      try {
        return await requestLocation(url)
      } catch (error) {
        if (error instanceof ExplainedError) throw error
        failure = error
      }
    }
    if (performance.now() > deadline) {
      throw new ExplainedError(`--etcd-servers ${urls.join(',')}: no response: ${reasonOf(failure)}`, {
        cause: failure,
      })
    }
    await delay(intervalMs)
  }
}

async function requestLocation(url: string): Promise<StoreLocation> {
  const request = get(new URL('/health', url), { agent: false, timeout: 1000 })
  request.on('timeout', () => request.destroy(new Error('no response within one second')))
  const [{ headers }] = (await once(request, 'response')) as [IncomingMessage]
  request.destroy()
  const dataDir = headers[locationHeaders.dataDir]
  if (typeof dataDir !== 'string') throw foreignServer(url)
  return { dataDir: decodeURIComponent(dataDir), unsafeNoFsync: headers[locationHeaders.unsafeNoFsync] === 'true' }
}

const foreignServer = (url: string): ExplainedError =>
  new ExplainedError(
    `--etcd-servers ${url} is not the etcd of Typernetes, and this server has its own store: start the etcd that ` +
      '`t8s envtest-assets` writes, or use --data-dir instead',
  )
