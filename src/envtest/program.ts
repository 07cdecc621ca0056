/** The two programs that test suites start, each as a process of its own or as one of many in the shared process. */
import { apiServerFlags, type FlagValues, idleFlagLines } from '../apiserver/serving-flags/index.ts'
import { findStore } from './etcd/find-store.ts'
import { etcdFlags } from './etcd/flags.ts'
import { type OpenStore, openStore } from './etcd/open-store.ts'
import { answerHealth } from './etcd/stand-in.ts'
import type { StoreTable } from './store-table.ts'

export interface Surroundings {
  /** What relative paths start from. */
  readonly cwd: string
  /** A line for the user. */
  readonly log: (line: string) => void
  /** Stores that this process has open already, by the URL that stands for them. Only the shared process has such. */
  readonly stores?: StoreTable
}

/** A program that has started. */
export interface Running {
  /** Ends it within `graceMs`, and a little for what has to be written down. */
  stop(graceMs: number): Promise<void>
}

/** `etcd`. In the shared process it holds the store; alone it only says where the kube-apiserver finds it. */
export async function runEtcd(args: readonly string[], { cwd, log, stores }: Surroundings): Promise<Running> {
  const flags = etcdFlags(args, cwd)
  const opened = stores ? await openStore(flags) : undefined
  // Before anybody can learn of it, so that nobody opens the directory again.
  const forget = opened && stores?.add(flags.listenClientUrls, opened.store)
  try {
    const answers = await answerHealth(flags)
    log(
      'answers the question about health at ' +
        `${flags.listenClientUrls.map(({ origin }) => `${origin}/health`).join(', ')}; data in ${flags.dataDir}`,
    )
    return {
      async stop() {
        forget?.()
        await answers.stop()
        await opened?.close()
      },
    }
  } catch (error) {
    forget?.()
    await opened?.close()
    throw error
  }
}

/** `kube-apiserver` on the store of an `etcd` launcher. */
export async function runApiServer(
  flags: FlagValues,
  servers: readonly string[],
  { cwd, log, stores }: Surroundings,
): Promise<Running> {
  for (const line of idleFlagLines(flags)) log(line)
  const opened = await storeBehind(servers, stores)
  try {
    const { startStandaloneApiServer: startLoneServer } = await import('../cluster/standalone-api-server/index.ts')
    const server = await startLoneServer({ flags, cwd, store: opened.store, log })
    log(`serving on ${server.url}`)
    return {
      async stop(graceMs) {
        await server.stop({ graceMs })
        await opened.close()
      },
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** The store of an etcd of this process is its etcd's to close. */
async function storeBehind(servers: readonly string[], stores: StoreTable | undefined): Promise<OpenStore> {
  const shared = (): OpenStore | undefined => {
    const store = servers.map((url) => stores?.find(url)).find((found) => found !== undefined)
    return store && { store, close: async () => {} }
  }
  const known = shared()
  if (known) return known
  // Both programs may have been started at once.
  const location = await findStore(servers)
  return shared() ?? openStore(location)
}

/** kube-apiserver has none; this is where etcd listens. */
export const defaultServers = ['http://127.0.0.1:2379']

/** The same, from a command line. */
export const runKubeApiServer = (args: readonly string[], surroundings: Surroundings): Promise<Running> => {
  const flags = apiServerFlags(args)
  return runApiServer(flags, flags.list('etcd-servers') ?? defaultServers, surroundings)
}
