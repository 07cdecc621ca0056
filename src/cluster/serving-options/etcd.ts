/** The flags of the store in etcd. */
import { readFileSync } from 'node:fs'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { EtcdOptions } from '../../storage/etcd/index.ts'
import { type FlagContext, pathOf } from './flag-context.ts'

/** Upstream's errors for invalid values, and those of overrides that cannot work here. */
export function etcdErrors(flags: FlagValues): string[] {
  const backend = flags.text('storage-backend')
  const overrides = flags.list('etcd-servers-overrides') ?? []
  return [
    ...(backend && backend !== 'etcd3'
      ? ["--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"]
      : []),
    ...overrides.flatMap(overrideErrors),
    ...(overrides.length > 0 && !flags.list('etcd-servers')?.length
      ? ['--etcd-servers-overrides needs --etcd-servers, the store of all other resources']
      : []),
  ]
}

/** A store for one resource (`--etcd-servers-overrides`). */
interface Override {
  readonly group: string
  readonly plural: string
  readonly servers: readonly string[]
}

/** Undefined if the text has another form than `group/resource#URL;URL`. */
function overrideOf(text: string): Override | undefined {
  const [, group = '', plural, servers = ''] = /^([^/#]*)\/([^/#]+)#([^#]+)$/.exec(text) ?? []
  const urls = servers.split(';')
  return plural && urls.every((url) => url !== '') ? { group, plural, servers: urls } : undefined
}

/** Written in one transaction with others, so they are in one store. */
const together = ['/services', 'networking.k8s.io/ipaddresses']

function overrideErrors(text: string): string[] {
  const override = overrideOf(text)
  if (!override)
    return [
      '--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, ' +
        'semicolon separated',
    ]
  return together.includes(`${override.group}/${override.plural}`)
    ? [`--etcd-servers-overrides ${text}: Services and their addresses are in the store of --etcd-servers`]
    : []
}

/** Options of the stores of `--etcd-servers-overrides`, each with its resources. */
export function otherEtcds(
  context: FlagContext,
): { readonly options: EtcdOptions; readonly resources: Omit<Override, 'servers'>[] }[] {
  const overrides = (context.flags.list('etcd-servers-overrides') ?? []).flatMap((text) => overrideOf(text) ?? [])
  const bySet = Map.groupBy(overrides, ({ servers }) => servers.toSorted().join(';'))
  return Array.from(bySet.values(), (same) => ({
    options: etcdOptions(context, same[0]!.servers),
    resources: same.map(({ group, plural }) => ({ group, plural })),
  }))
}

/** Returns the options of the store at `servers`. Throws an ExplainedError for files that cannot be read. */
export function etcdOptions(context: FlagContext, servers: readonly string[]): EtcdOptions {
  const { flags } = context
  const ca = contentOf(context, 'etcd-cafile')
  const cert = contentOf(context, 'etcd-certfile')
  const key = contentOf(context, 'etcd-keyfile')
  const pollMs = flags.durationMs('etcd-db-metric-poll-interval')
  const prefix = flags.text('etcd-prefix')
  const compactionMs = flags.durationMs('etcd-compaction-interval')
  const leaseReuseSeconds = flags.int('lease-reuse-duration-seconds')
  return {
    servers,
    tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    ...(pollMs !== undefined && { pollMs }),
    ...(prefix !== undefined && { prefix }),
    ...(compactionMs !== undefined && { compactionMs }),
    ...(leaseReuseSeconds !== undefined && { leaseReuseSeconds }),
  }
}

function contentOf(context: FlagContext, name: string): Buffer | undefined {
  const path = pathOf(context, name)
  if (path === undefined) return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ExplainedError(`cannot read ${path} of --${name}: ${reasonOf(error)}`, { cause: error })
  }
}
