/**
 * A server with all controllers, and who asks it: a client that fills it, and another whose reads are timed meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { bearerToken, type Client, configMaps, connectTo, type Resource } from '../../src/client/index.ts'
import { collectionPath } from '../../src/client/resource.ts'
import { namespace, token } from '../rights.ts'
import { cpuMs, type Server, startServer, stopServer } from '../server.ts'

export interface Bench {
  readonly server: Server
  readonly client: Client
  /** Times a read every few milliseconds until `work` is done: the slowest of a hundred, in ms, beside what it gave. */
  timingReads<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly p99: number }>
  close(): Promise<void>
}

const readEveryMs = 5
const lookEveryMs = 20
const lanes = 32
/** A thousand Services need more addresses than there are usually. Nobody renews the lease of a node that is played. */
const flags = ['--service-cluster-ip-range=10.0.0.0/16', '--node-startup-grace-period=1h']
/** Every namespace has it, after a moment. */
const readName = 'kube-root-ca.crt'

export async function openBench(directory: string, tokenFile: string): Promise<Bench> {
  const server = await startServer(directory, tokenFile, flags, ['*'])
  const clients: Client[] = []
  const connect = async (): Promise<Client> => {
    const client = await connectTo({ access: { url: server.url, insecure: true, credentials: bearerToken(token) } })
    clients.push(client)
    return client
  }
  const close = async (): Promise<void> => {
    for (const client of clients) client.close()
    await stopServer(server)
  }
  try {
    const [client, reader] = [await connect(), await connect()]
    // Nobody waits for controllers that are only starting.
    await until('the first controllers', async () => (await client.find(configMaps, namespace, readName)) !== undefined)
    return { server, client, close, timingReads: (work) => timingReads(reader, work) }
  } catch (error) {
    await close()
    throw error
  }
}

async function timingReads<T>(
  reader: Client,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly p99: number }> {
  const times: number[] = []
  let isOver = false
  const reading = (async () => {
    while (!isOver) {
      const started = performance.now()
      await reader.get(configMaps, namespace, readName)
      times.push(performance.now() - started)
      await delay(readEveryMs)
    }
  })()
  try {
    const result = await work()
    return { result, p99: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0 }
  } finally {
    isOver = true
    await reading
  }
}

/** Calls `work` with 0 to `count` - 1, some at a time. */
export async function many(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** How many objects there are, of a namespace or of all. */
export async function countOf(client: Client, of: Resource, inNamespace?: string): Promise<number> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  const { items, metadata } = await client.read<{
    items: readonly unknown[]
    metadata: { remainingItemCount?: number }
  }>(`${collectionPath(of, inNamespace)}?limit=1`, accept)
  return items.length + (metadata.remainingItemCount ?? 0)
}

/** Resolves with the milliseconds that it took until `holds` did. Throws, naming `what`, after `limitMs`. */
export async function until(what: string, holds: () => Promise<boolean>, limitMs = 120_000): Promise<number> {
  const started = performance.now()
  while (!(await holds())) {
    if (performance.now() - started > limitMs) throw new Error(`${what}: not within ${limitMs / 1000} s`)
    await delay(lookEveryMs)
  }
  return performance.now() - started
}

/** Seconds of CPU that the server, with all that it started, takes for `work`. */
export async function cpuSeconds(server: Server, work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs(server) ?? Number.NaN
  await work()
  return ((cpuMs(server) ?? Number.NaN) - before) / 1000
}
