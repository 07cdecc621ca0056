/**
 * Finds the store behind `--etcd-servers`: its URLs are asked for their health, and our `etcd` launcher says where it
 * keeps its data.
 */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { StoreLocation } from './open-store.ts'
import { locationHeaders } from './stand-in.ts'

const patienceMs = 10_000
const betweenMs = 20

/**
 * Asks until one of the URLs answers. Rejects with an ExplainedError if none does, or if something else than our
 * launcher answers.
 */
export async function findStore(urls: readonly string[]): Promise<StoreLocation> {
  const wrong = urls.find((url) => !/^https?:\/\//.test(url) || !URL.canParse(url))
  if (wrong !== undefined)
    throw new ExplainedError(`--etcd-servers ${wrong} is no URL: give one such as http://127.0.0.1:2379`)
  const deadline = performance.now() + patienceMs
  for (;;) {
    let failure: unknown
    for (const url of urls) {
      if (url.startsWith('https:')) throw notOurs(url)
      try {
        return await ask(url)
      } catch (error) {
        if (error instanceof ExplainedError) throw error
        failure = error
      }
    }
    if (performance.now() > deadline) {
      throw new ExplainedError(`--etcd-servers ${urls.join(',')}: nothing answers there: ${reasonOf(failure)}`, {
        cause: failure,
      })
    }
    await delay(betweenMs)
  }
}

async function ask(url: string): Promise<StoreLocation> {
  const asked = get(new URL('/health', url), { agent: false, timeout: 1000 })
  asked.on('timeout', () => asked.destroy(new Error('no answer within a second')))
  const [{ headers }] = (await once(asked, 'response')) as [IncomingMessage]
  asked.destroy()
  const dataDir = headers[locationHeaders.dataDir]
  if (typeof dataDir !== 'string') throw notOurs(url)
  return { dataDir: decodeURIComponent(dataDir), unsafeNoFsync: headers[locationHeaders.unsafeNoFsync] === 'true' }
}

const notOurs = (url: string): ExplainedError =>
  new ExplainedError(
    `--etcd-servers ${url}: that is an etcd, or something else, and this server keeps its data in a store of its ` +
      'own: start the etcd that `t8s envtest-assets` writes, or give --data-dir instead',
  )
