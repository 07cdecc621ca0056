/** A server with all controllers, a client that fills it, and another one whose reads are timed. */
import { setTimeout as delay } from 'node:timers/promises'
import { bearerToken, type Client, configMaps, connectTo, type Resource } from '../../src/client/index.ts'
import { collectionPath } from '../../src/client/resource.ts'
import { namespace, token } from '../server/rights.ts'
import { cpuMs, type Server, startServer, stopServer } from '../server/server.ts'

export interface Bench {
  readonly server: Server
  readonly client: Client
  /** Times reads every few milliseconds until `work` is done. Returns their p99 in ms and the result of `work`. */
  timingReads<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly p99: number }>
  close(): Promise<void>
}

const readEveryMs = 5
const lookEveryMs = 20
const lanes = 32
/** A thousand Services need a larger address range. The leases of fake nodes are not renewed. */
const flags = ['--service-cluster-ip-range=10.0.0.0/16', '--node-startup-grace-period=1h']
/** Every namespace has it after a moment. */
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
    // Waits for the first controllers, so that their start is not measured.
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

/** Calls `work` with 0 to `count` - 1, with limited concurrency. */
export async function many(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Returns the number of objects in a namespace, or in all. */
export async function countOf(client: Client, of: Resource, inNamespace?: string): Promise<number> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  const { items, metadata } = await client.read<{
    items: readonly unknown[]
    metadata: { remainingItemCount?: number }
  }>(`${collectionPath(of, inNamespace)}?limit=1`, accept)
  return items.length + (metadata.remainingItemCount ?? 0)
}

/** Resolves to the time in ms until `holds` returned true. Throws with `what` after `limitMs`. */
export async function until(what: string, holds: () => Promise<boolean>, limitMs = 120_000): Promise<number> {
  const started = performance.now()
  while (!(await holds())) {
    if (performance.now() - started > limitMs) throw new Error(`${what}: not within ${limitMs / 1000} s`)
    await delay(lookEveryMs)
  }
  return performance.now() - started
}

/** Returns the CPU time in s of the server and its child processes during `work`. */
export async function cpuSeconds(server: Server, work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs(server) ?? Number.NaN
  await work()
  return ((cpuMs(server) ?? Number.NaN) - before) / 1000
}
