/**
 * The flags of kube-apiserver that a cluster takes besides its own options. Their code is loaded only if there are any.
 */
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { ClusterOptions } from '../cluster-options.ts'
import type { EtcdPlan } from '../etcd/etcd-plan.ts'
import type { ServingOptions } from '../serving-options/index.ts'

/** The values of flags of kube-apiserver. */
export interface FlaggedOptions {
  readonly serving: ServingOptions
  /** Undefined without `--etcd-servers`. */
  readonly etcd?: EtcdPlan
}

/** Returns the options that `apiServerFlags` set. Rejects with an ExplainedError for invalid flags and files. */
export async function optionsFromFlags(
  { apiServerFlags = [], log = () => {} }: ClusterOptions,
  directory: string | undefined,
): Promise<FlaggedOptions> {
  if (apiServerFlags.length === 0) return { serving: {} }
  const [{ idleFlagLines }, { checkServingFlags, etcdOptions, otherEtcds, servingOptions }] = await Promise.all([
    import('../../apiserver/serving-flags/index.ts'),
    import('../serving-options/index.ts'),
  ])
  const flags = await parseApiServerFlags(apiServerFlags)
  checkServingFlags(flags)
  for (const line of idleFlagLines(flags)) log(line)
  const context = { flags, cwd: process.cwd(), directory, log }
  const servers = flags.list('etcd-servers')
  return {
    serving: servingOptions(context),
    ...(servers?.length && { etcd: { options: etcdOptions(context, servers), others: otherEtcds(context) } }),
  }
}

/** Parses flags of kube-apiserver. Rejects with an ExplainedError, since the user has to correct the command line. */
export async function parseApiServerFlags(args: readonly string[]): Promise<FlagValues> {
  const { apiServerFlags } = await import('../../apiserver/serving-flags/index.ts')
  try {
    return apiServerFlags(args)
  } catch (error) {
    throw error instanceof Error ? new ExplainedError(error.message, { cause: error }) : error
  }
}
