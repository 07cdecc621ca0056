/** The two programs that test suites start, each in its own process or in the shared process. */
import type { OtherStore } from '../../apiserver/server.ts'
import { apiServerFlags, type FlagValues, idleFlagLines } from '../../apiserver/serving-flags/index.ts'
import type { FlagPlace } from '../../cluster/serving-options/index.ts'
import { findStore } from './etcd/find-store.ts'
import { etcdFlags } from './etcd/flags.ts'
import { serveHealth } from './etcd/health-server.ts'
import { type OpenStore, openStore } from './etcd/open-store.ts'
import type { StoreTable } from './store-table.ts'

export interface ProgramContext {
  /** Base of relative paths. */
  readonly cwd: string
  /** Prints a line for the user. */
  readonly log: (line: string) => void
  /** The open stores of the shared process, by URL. */
  readonly stores?: StoreTable
}

/** A program that has started. */
export interface Running {
  /** Stops it within `graceMs`, plus the time to write data. */
  stop(graceMs: number): Promise<void>
}

/** Runs `etcd`. In the shared process it opens the store; alone it only serves the location of the store. */
export async function runEtcd(args: readonly string[], { cwd, log, stores }: ProgramContext): Promise<Running> {
  const flags = etcdFlags(args, cwd)
  const opened = stores ? await openStore(flags) : undefined
  // Added before it serves its location, so that the directory is not opened twice.
  const removeStore = opened && stores?.add(flags.listenClientUrls, opened.store)
  try {
    const server = await serveHealth(flags)
    log(
      'serving health at ' +
        `${flags.listenClientUrls.map(({ origin }) => `${origin}/health`).join(', ')}; data in ${flags.dataDir}`,
    )
    return {
      async stop() {
        removeStore?.()
        await server.stop()
        await opened?.close()
      },
    }
  } catch (error) {
    removeStore?.()
    await opened?.close()
    throw error
  }
}

/** Runs `kube-apiserver` with the store of an `etcd` launcher. */
export async function runApiServer(
  flags: FlagValues,
  servers: readonly string[],
  { cwd, log, stores }: ProgramContext,
): Promise<Running> {
  for (const line of idleFlagLines(flags)) log(line)
  const opened = await storeBehind(servers, { flags, cwd, log }, stores)
  const otherStores: OtherStore[] = []
  const close = async (): Promise<void> => {
    await opened.close()
    await Promise.all(otherStores.map(({ store }) => store.close()))
  }
  try {
    for await (const other of openOthers({ flags, cwd, log })) otherStores.push(other)
    const { startStandaloneApiServer: startLoneServer } = await import('../../cluster/standalone-api-server/index.ts')
    const server = await startLoneServer({ flags, cwd, store: opened.store, otherStores, log })
    log(`serving on ${server.url}`)
    return {
      async stop(graceMs) {
        await server.stop({ graceMs })
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the store; one of an etcd in this process is shared, and closed by that etcd. */
async function storeBehind(
  servers: readonly string[],
  context: FlagPlace,
  stores: StoreTable | undefined,
): Promise<OpenStore> {
  const shared = (): OpenStore | undefined => {
    const store = servers.map((url) => stores?.find(url)).find((found) => found !== undefined)
    return store && { store, close: async () => {} }
  }
  const known = shared()
  if (known) return known
  // Both programs may have been started at the same time.
  const location = await findStore(servers)
  return shared() ?? (location ? openStore(location) : openEtcd(servers, context))
}

async function openEtcd(servers: readonly string[], context: FlagPlace): Promise<OpenStore> {
  const [{ openEtcdStore }, { etcdOptions }] = await Promise.all([
    import('../../storage/etcd/index.ts'),
    import('../../cluster/serving-options/index.ts'),
  ])
  const store = await openEtcdStore(etcdOptions(context, servers))
  return { store, close: () => store.close() }
}

/** Opens the stores of `--etcd-servers-overrides`, one after the other. */
async function* openOthers(context: FlagPlace): AsyncGenerator<OtherStore> {
  if (!context.flags.list('etcd-servers-overrides')?.length) return
  const [{ openEtcdStore }, { otherEtcds }] = await Promise.all([
    import('../../storage/etcd/index.ts'),
    import('../../cluster/serving-options/index.ts'),
  ])
  for (const { options, resources } of otherEtcds(context)) yield { store: await openEtcdStore(options), resources }
}

/** The default address of etcd; kube-apiserver has no default. */
export const defaultServers = ['http://127.0.0.1:2379']

/** Runs `kube-apiserver` from a command line. */
export const runKubeApiServer = (args: readonly string[], surroundings: ProgramContext): Promise<Running> => {
  const flags = apiServerFlags(args)
  return runApiServer(flags, flags.list('etcd-servers') ?? defaultServers, surroundings)
}
