/**
 * The flags of kube-apiserver that a cluster is given beyond its own options. Nothing of them is loaded where there are
 * none.
 */
import type { FlagValues } from '../apiserver/serving-flags/index.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import type { ClusterOptions } from './cluster-options.ts'
import type { ServingOptions } from './serving-options/index.ts'

/**
 * What `apiServerFlags` say; only that is in it. Rejects with an ExplainedError for flags and files that will not do.
 */
export async function flaggedOptions(
  { apiServerFlags = [], log = () => {} }: ClusterOptions,
  directory: string | undefined,
): Promise<ServingOptions> {
  if (apiServerFlags.length === 0) return {}
  const [{ idleFlagLines }, { checkServingFlags, servingOptions }] = await Promise.all([
    import('../apiserver/serving-flags/index.ts'),
    import('./serving-options/index.ts'),
  ])
  const flags = await parsedFlags(apiServerFlags)
  checkServingFlags(flags)
  for (const line of idleFlagLines(flags)) log(line)
  return servingOptions({ flags, cwd: process.cwd(), directory, log })
}

/**
 * Reads flags of kube-apiserver. Rejects with an ExplainedError, since a command line that is not taken is the user's
 * to mend.
 */
export async function parsedFlags(args: readonly string[]): Promise<FlagValues> {
  const { apiServerFlags } = await import('../apiserver/serving-flags/index.ts')
  try {
    return apiServerFlags(args)
  } catch (error) {
    throw error instanceof Error ? new ExplainedError(error.message, { cause: error }) : error
  }
}
