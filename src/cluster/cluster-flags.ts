/**
 * The flags of kube-apiserver that a cluster takes besides its own options. Their code is loaded only if there are any.
 */
import type { FlagValues } from '../apiserver/serving-flags/index.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import type { ClusterOptions } from './cluster-options.ts'
import type { ServingOptions } from './serving-options/index.ts'

/**
 * Returns the serving options that `apiServerFlags` set. Rejects with an ExplainedError for invalid flags and files.
 */
export async function optionsFromFlags(
  { apiServerFlags = [], log = () => {} }: ClusterOptions,
  directory: string | undefined,
): Promise<ServingOptions> {
  if (apiServerFlags.length === 0) return {}
  const [{ idleFlagLines }, { checkServingFlags, servingOptions }] = await Promise.all([
    import('../apiserver/serving-flags/index.ts'),
    import('./serving-options/index.ts'),
  ])
  const flags = await parseApiServerFlags(apiServerFlags)
  checkServingFlags(flags)
  for (const line of idleFlagLines(flags)) log(line)
  return servingOptions({ flags, cwd: process.cwd(), directory, log })
}

/** Parses flags of kube-apiserver. Rejects with an ExplainedError, since the user has to correct the command line. */
export async function parseApiServerFlags(args: readonly string[]): Promise<FlagValues> {
  const { apiServerFlags } = await import('../apiserver/serving-flags/index.ts')
  try {
    return apiServerFlags(args)
  } catch (error) {
    throw error instanceof Error ? new ExplainedError(error.message, { cause: error }) : error
  }
}
