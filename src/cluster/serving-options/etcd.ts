/** The flags of the store in etcd. */
import { readFileSync } from 'node:fs'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { EtcdOptions } from '../../storage/etcd/index.ts'
import { type FlagContext, pathOf } from './flag-context.ts'

/** Upstream's errors for invalid values. */
export function etcdErrors(flags: FlagValues): string[] {
  const backend = flags.text('storage-backend')
  return backend && backend !== 'etcd3'
    ? ["--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"]
    : []
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
